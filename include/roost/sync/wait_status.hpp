#pragma once

#include <roost/base/assert.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI {

// How a transfer ended.
enum class wait_status : std::uint8_t {
    done,
    would_wait,  // try_ forms: full, or empty
    closed,
    expired,
    cancelled,
};

// What a send came to. If it did not happen, it holds the value, unless that was left where it came from (send_from).
template <class T>
class [[nodiscard]] sent {
public:
    explicit sent(wait_status how) noexcept : status_(how) {}
    sent(wait_status how, T&& value) noexcept : status_(how) {
        if (how != wait_status::done) {
            value_.emplace(std::move(value));
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return status_ == wait_status::done; }
    [[nodiscard]] wait_status status() const noexcept { return status_; }
    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    [[nodiscard]] T take_back() noexcept {
        if (!value_) {
            panic("sent", "", site(), "there is no value to take back: it was sent, or never left its place");
        }
        return *std::move(value_);
    }

private:
    wait_status status_;
    std::optional<T> value_;
};

// What a receive came to.
template <class T>
class [[nodiscard]] received {
public:
    received(wait_status how, std::optional<T>&& value) noexcept : status_(how), value_(std::move(value)) {}

    [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
    [[nodiscard]] wait_status status() const noexcept { return status_; }
    [[nodiscard]] T& operator*() & noexcept { return *value_; }
    [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
    [[nodiscard]] T* operator->() noexcept { return &*value_; }

private:
    wait_status status_;
    std::optional<T> value_;
};

}  // namespace roost::inline ROOST_ABI
