#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/detail/access.hpp>
#include <roost/base/site.hpp>

#include <any>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

enum class reason_kind : std::uint8_t {
    none,       // nothing was requested
    requested,  // stop, cancel or abort was called
    timeout,    // a deadline passed
    failure,    // a sibling or child failed, and its scope was cancelled
    shutdown,   // the program is ending
    dropped,    // the handle to the result was destroyed
    lost_race,  // another alternative finished first
    closed,     // the executor, pool or scope was closed
};

[[nodiscard]] std::string_view to_string(reason_kind kind) noexcept;

// Why something was stopped. Immutable and cheap to copy: one pointer to a reference-counted record, or null.
class reason {
public:
    reason() noexcept = default;
    // Allocates the record; throws std::bad_alloc. Raising a level takes a finished reason, so it does not throw.
    explicit reason(reason_kind kind, std::string_view text = {}, roost::site where = std::source_location::current());
    reason(reason_kind kind, std::string_view text, std::any payload, roost::site where = std::source_location::current());
    reason(const reason& other) noexcept : record_(other.record_) {
        if (record_ != nullptr) {
            share();
        }
    }
    reason(reason&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
    reason& operator=(reason other) noexcept {
        std::swap(record_, other.record_);
        return *this;
    }
    ~reason() {
        if (record_ != nullptr) {
            drop();
        }
    }

    // Returns a reason with a kind and nothing else. Allocates nothing.
    [[nodiscard]] static reason plain_kind(reason_kind kind) noexcept;

    [[nodiscard]] reason_kind kind() const noexcept;
    [[nodiscard]] std::string_view text() const noexcept;
    [[nodiscard]] roost::site site() const noexcept;
    [[deprecated("use site()")]] [[nodiscard]] roost::site where() const noexcept { return site(); }
    [[nodiscard]] std::string_view origin() const noexcept;  // name of the node at which it was raised
    [[nodiscard]] const std::any* payload() const noexcept;  // null if there is none
    [[nodiscard]] explicit operator bool() const noexcept { return kind() != reason_kind::none; }

    // Returns "timeout: slow backend (server.cpp:42, at 'request')".
    [[nodiscard]] std::string to_string() const;

private:
    friend struct detail::base_access;
    [[nodiscard]] reason at_origin(std::string_view name) const;

    struct record;
    struct full_record;
    explicit reason(record* r) noexcept : record_(r) {}
    void share() const noexcept;
    void drop() noexcept;
    [[nodiscard]] const full_record* full() const noexcept;
    record* record_ = nullptr;
};

inline reason detail::base_access::at_origin(const reason& of, std::string_view name) { return of.at_origin(name); }

}  // namespace roost::inline ROOST_ABI
