#pragma once

// The results of sends and receives, with the members of base/status.hpp.

#include <roost/base/assert.hpp>
#include <roost/base/status.hpp>
#include <roost/sync/detail/answer_kinds.hpp>
#include <roost/sync/detail/wait_status.hpp>
#include <roost/sync/waiter.hpp>

#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI {

// Compares the status of an interrupted wait with a claim.
[[nodiscard]] constexpr bool operator==(wait_status status, ext::claim how) noexcept {
    return status == detail::status_of(how);
}

// The result of a send. Holds the value if it was not sent, unless send_from() left the value with the caller.
template <class T>
class [[nodiscard("a send that did not happen holds the value: check it, or take_back()")]] sent {
public:
    using value_type = void;

    explicit sent(wait_status how) noexcept : status_(how) {}
    sent(wait_status how, T&& value) noexcept : status_(how) {
        if (how != wait_status::done) {
            value_.emplace(std::move(value));
        }
    }
    sent(sent&& other) noexcept
        : status_(other.status_), is_seen_(std::exchange(other.is_seen_, true)), value_(std::move(other.value_)) {}
    sent& operator=(sent&& other) noexcept {
        status_ = other.status_;
        is_seen_ = std::exchange(other.is_seen_, true);
        value_ = std::move(other.value_);
        return *this;
    }
    // Checked builds report a value that was not sent as misuse, if no member but error() was called.
    ~sent() {
        if constexpr (ROOST_CHECKED != 0) {
            if (!is_seen_ && value_.has_value()) [[unlikely]] {
                detail::value_not_sent(status_);
            }
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return status() == wait_status::done; }
    [[nodiscard]] wait_status status() const noexcept {
        is_seen_ = true;
        return status_;
    }
    [[nodiscard]] std::exception_ptr error() const noexcept { return detail::error_of(status_, kind); }
    // Throws if the value was not sent.
    void value() const {
        is_seen_ = true;
        if (status_ != wait_status::done) {
            detail::throw_no_value(status_, kind, error());
        }
    }
    [[nodiscard]] outcome<void> to_outcome() const {
        is_seen_ = true;
        if (status_ == wait_status::cancelled) {
            return outcome<void>(cancelled(reason::plain_kind(reason_kind::requested)));
        }
        return status_ == wait_status::done ? outcome<void>(std::in_place) : outcome<void>(error());
    }
    // Returns true if there is a value to take back.
    [[nodiscard]] bool has_value() const noexcept {
        is_seen_ = true;
        return value_.has_value();
    }
    [[nodiscard]] T take_back() noexcept {
        is_seen_ = true;
        if (!value_) {
            detail::panic(
                "sent", "", site(),
                "there is no value to take back: it was sent, or send_from() left it with the caller; check has_value() "
                "first");
        }
        return *std::move(value_);
    }

private:
    static constexpr const char* kind = "channel send";
    wait_status status_;
    mutable bool is_seen_ = false;
    std::optional<T> value_;
};

// The result of a receive.
template <class T>
class [[nodiscard]] received : public detail::answer<T, detail::receive_kind> {
public:
    received(wait_status how, std::optional<T>&& value) noexcept
        : detail::answer<T, detail::receive_kind>(how, std::move(value)) {}
};

}  // namespace roost::inline ROOST_ABI
