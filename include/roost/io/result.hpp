#pragma once

// What an operation on a descriptor returns: a value or an error code, and how many bytes it transferred.
//
//   io::result<std::size_t> n = co_await peer.read_some(buffer);
//   if (!n) log(n.code().message());             the code, as a value
//   std::size_t m = co_await peer.read_some(buffer).or_throw();      or as an exception: io::error
//
// Beside these, a result has the members of base/status.hpp.

#include <roost/base/outcome.hpp>
#include <roost/base/status.hpp>
#include <roost/io/error.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

namespace roost::inline ROOST_ABI::io {

namespace detail {
// `what` is the operation, for messages.
[[noreturn]] void throw_error(std::error_code code, const char* what, std::size_t transferred);
[[nodiscard]] std::exception_ptr error_of(std::error_code code, const char* what, std::size_t transferred) noexcept;
[[nodiscard]] wait_status status_of(std::error_code code) noexcept;
[[noreturn]] void panic_no_value(std::error_code code, const char* what) noexcept;
}  // namespace detail

template <class T = void>
class [[nodiscard("it may be an error: check it, or call value()")]] result {
    using stored = roost::detail::stored_t<T>;

public:
    using value_type = T;

    template <class... Args>
        requires std::is_constructible_v<stored, Args...>
    explicit result(std::in_place_t, Args&&... args) : value_(std::in_place, std::forward<Args>(args)...) {}
    explicit(false) result(std::error_code code, const char* what = "", std::size_t transferred = 0) noexcept
        : category_(&code.category()), code_(code.value()), what_(what), transferred_(transferred) {}

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
    // Returns the error; zero if there is none.
    [[nodiscard]] std::error_code code() const noexcept {
        return category_ == nullptr ? std::error_code() : std::error_code(code_, *category_);
    }
    // Returns how many bytes were transferred, also before an error.
    [[nodiscard]] std::size_t transferred() const noexcept {
        if constexpr (std::is_same_v<T, std::size_t>) {
            return value_ ? *value_ : transferred_;
        } else {
            return transferred_;
        }
    }

    // Returns the value. Throws io::error if there is none.
    decltype(auto) value() & { return (require(), static_cast<stored&>(*value_)); }
    decltype(auto) value() const& { return (require(), static_cast<const stored&>(*value_)); }
    stored value() && {
        require();
        return *std::move(value_);
    }
    // Returns the value. Ends the program if there is none.
    [[nodiscard]] stored& operator*() & noexcept { return (check(), *value_); }
    [[nodiscard]] const stored& operator*() const& noexcept { return (check(), *value_); }
    [[nodiscard]] stored&& operator*() && noexcept { return (check(), *std::move(value_)); }
    [[nodiscard]] stored* operator->() noexcept { return (check(), &*value_); }
    [[nodiscard]] const stored* operator->() const noexcept { return (check(), &*value_); }

    [[nodiscard]] wait_status status() const noexcept { return detail::status_of(code()); }
    [[nodiscard]] std::exception_ptr error() const noexcept {
        return value_ ? nullptr : detail::error_of(code(), what_, transferred_);
    }
    [[nodiscard]] outcome<T> to_outcome() && {
        if (!value_) {
            return outcome<T>(error());
        }
        if constexpr (std::is_void_v<T>) {
            return outcome<T>(std::in_place);
        } else {
            return outcome<T>(std::in_place, *std::move(value_));
        }
    }

private:
    void require() const {
        if (!value_) [[unlikely]] {
            detail::throw_error(code(), what_, transferred_);
        }
    }
    void check() const noexcept {
        if (!value_) [[unlikely]] {
            detail::panic_no_value(code(), what_);
        }
    }

    std::optional<stored> value_;
    const std::error_category* category_ = nullptr;  // null: there is a value
    int code_ = 0;
    const char* what_ = "";
    std::size_t transferred_ = 0;
};

}  // namespace roost::inline ROOST_ABI::io
