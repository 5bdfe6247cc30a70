#pragma once

#include <roost/base/detail/result.hpp>
#include <roost/base/outcome.hpp>

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Returns an error "channel receive: closed" with the matching errc. Returns null for done and cancelled.
[[nodiscard]] std::exception_ptr error_of(wait_status how, std::string_view what) noexcept;
// For value(): never returns.
[[noreturn]] void throw_no_value(wait_status how, std::string_view what, const std::exception_ptr& error);
// For operator*: ends the program.
[[noreturn]] void panic_no_value(wait_status how, std::string_view what, std::string_view detail = {}) noexcept;

// The result of a wait for a T. Kind::text names the wait in messages.
template <class T, class Kind>
class [[nodiscard]] answer {
    using stored = kept_t<T>;

public:
    using value_type = T;

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
    [[nodiscard]] wait_status status() const noexcept { return status_; }
    [[nodiscard]] std::exception_ptr error() const noexcept { return error_of(status_, Kind::text); }

    [[nodiscard]] stored& value() & {
        require();
        return *value_;
    }
    [[nodiscard]] const stored& value() const& {
        require();
        return *value_;
    }
    [[nodiscard]] stored value() && {
        require();
        return *std::move(value_);
    }
    [[nodiscard]] stored& operator*() & noexcept {
        check();
        return *value_;
    }
    [[nodiscard]] const stored& operator*() const& noexcept {
        check();
        return *value_;
    }
    [[nodiscard]] stored&& operator*() && noexcept {
        check();
        return *std::move(value_);
    }
    [[nodiscard]] stored* operator->() noexcept {
        check();
        return &*value_;
    }
    [[nodiscard]] const stored* operator->() const noexcept {
        check();
        return &*value_;
    }

    [[nodiscard]] outcome<T> to_outcome() && {
        if (std::exception_ptr failed = error()) {
            return outcome<T>(std::move(failed));
        }
        if (!value_) {
            return outcome<T>(cancelled(reason::plain_kind(reason_kind::requested)));
        }
        return outcome<T>(std::in_place, *std::move(value_));
    }
    explicit operator outcome<T>() && { return std::move(*this).to_outcome(); }

protected:
    explicit answer(wait_status how) noexcept : status_(how) {}
    answer(wait_status how, std::optional<stored>&& value) noexcept : status_(how), value_(std::move(value)) {}
    template <class... Args>
    explicit answer(std::in_place_t, Args&&... args)
        : status_(wait_status::done), value_(std::in_place, std::forward<Args>(args)...) {}

private:
    void require() const {
        if (!value_) [[unlikely]] {
            throw_no_value(status_, Kind::text, error());
        }
    }
    void check() const noexcept {
        if (!value_) [[unlikely]] {
            panic_no_value(status_, Kind::text);
        }
    }

    wait_status status_;
    std::optional<stored> value_;
};

}  // namespace roost::inline ROOST_ABI::detail
