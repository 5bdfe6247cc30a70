#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>

#include <any>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

enum class reason_kind : std::uint8_t {
    none,       // nothing was requested
    requested,  // somebody called stop, cancel or abort
    timeout,    // a deadline passed
    failure,    // a sibling or child failed and took its scope down
    shutdown,   // the program is ending
    dropped,    // the handle that wanted the result is gone
    lost_race,  // another alternative finished first
    closed,     // the executor, pool or scope was closed
};

[[nodiscard]] std::string_view to_string(reason_kind kind) noexcept;

// Why something was stopped. Immutable and cheap to copy: one pointer to a counted record, or nothing.
class reason {
public:
    reason() noexcept = default;
    // Makes the record, so it may throw std::bad_alloc; whoever raises a level passes a finished reason.
    explicit reason(reason_kind kind, std::string_view text = {}, site where = std::source_location::current());
    reason(reason_kind kind, std::string_view text, std::any payload, site where = std::source_location::current());
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

    // A reason without a record, for paths that must not allocate: kind only.
    [[nodiscard]] static reason plain_kind(reason_kind kind) noexcept;

    [[nodiscard]] reason_kind kind() const noexcept;
    [[nodiscard]] std::string_view text() const noexcept;
    [[nodiscard]] site where() const noexcept;
    [[nodiscard]] std::string_view origin() const noexcept;  // name of the node at which it was raised
    [[nodiscard]] const std::any* payload() const noexcept;  // null when there is none
    [[nodiscard]] explicit operator bool() const noexcept { return kind() != reason_kind::none; }

    // "timeout: slow backend (server.cpp:42, at 'request')"
    [[nodiscard]] std::string to_string() const;

    // The same reason with the node's name filled in; used once, by the node at which it is raised.
    [[nodiscard]] reason at_origin(std::string_view name) const;

private:
    struct record;
    struct full_record;
    explicit reason(record* r) noexcept : record_(r) {}
    void share() const noexcept;
    void drop() noexcept;
    [[nodiscard]] const full_record* full() const noexcept;
    record* record_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI
