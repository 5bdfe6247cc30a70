#pragma once

#include <roost/base/assert.hpp>
#include <roost/base/detail/result.hpp>
#include <roost/base/reason.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace roost::inline ROOST_ABI {

// How a wait ended. base/status.hpp lists the members that every result of a wait has.
enum class wait_status : std::uint8_t {
    done,
    would_wait,  // a try_ form found the object full, empty or in use
    closed,
    expired,
    cancelled,
    stopped,  // refused: the node was stopped
    failed,  // with an error
    // Synonyms of the first two, for pools.
    ok = done,
    empty = would_wait,
};

// The outcome of a cancelled computation, with the reason.
class cancelled {
public:
    cancelled() noexcept = default;
    explicit cancelled(reason why) noexcept : why_(std::move(why)) {}
    [[nodiscard]] const reason& why() const noexcept { return why_; }

private:
    reason why_;
};

// Exactly one of: a value, an error, cancelled. T may be void, a reference or move-only.
// Errors that happened beside the first one are kept, in order, in `others()`.
template <class T = void>
class [[nodiscard]] outcome {
    using stored = detail::stored_t<T>;

public:
    using value_type = T;

    // Cancelled, without a reason.
    outcome() noexcept : state_(std::in_place_index<2>) {}

    template <class... Args>
        requires std::is_constructible_v<stored, Args...>
    explicit outcome(std::in_place_t, Args&&... args) : state_(std::in_place_index<0>, std::forward<Args>(args)...) {}
    explicit(false) outcome(std::exception_ptr error) noexcept : state_(std::in_place_index<1>, std::move(error)) {}
    explicit(false) outcome(cancelled c) noexcept : state_(std::in_place_index<2>, std::move(c)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    [[nodiscard]] bool has_error() const noexcept { return state_.index() == 1; }
    [[nodiscard]] bool is_cancelled() const noexcept { return state_.index() == 2; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] wait_status status() const noexcept {
        return has_value() ? wait_status::done : has_error() ? wait_status::failed : wait_status::cancelled;
    }

    // Returns the value, or throws the error with its own type. Ends the program if the outcome is cancelled.
    [[nodiscard]] std::add_lvalue_reference_t<T> value() & { return detail::result_in<T>::refer(get()); }
    [[nodiscard]] std::add_lvalue_reference_t<std::add_const_t<T>> value() const& {
        return detail::result_in<T>::refer(const_cast<outcome&>(*this).get());
    }
    [[nodiscard]] T value() && { return detail::result_in<T>::take(get()); }

    // Returns null if there is no error.
    [[nodiscard]] std::exception_ptr error() const noexcept { return has_error() ? std::get<1>(state_) : nullptr; }
    // Returns an empty reason if it is not cancelled.
    [[nodiscard]] reason why() const noexcept { return is_cancelled() ? std::get<2>(state_).why() : reason(); }

    // As value().
    T value_or_throw() && { return std::move(*this).value(); }
    // Returns this outcome. For generic code that takes any result of a wait.
    [[nodiscard]] outcome to_outcome() && { return std::move(*this); }

    [[nodiscard]] const std::vector<std::exception_ptr>& others() const noexcept {
        static const std::vector<std::exception_ptr> none;
        return others_ ? *others_ : none;
    }
    void add_other(std::exception_ptr error) {
        if (!others_) {
            others_ = std::make_unique<std::vector<std::exception_ptr>>();
        }
        others_->push_back(std::move(error));
    }

private:
    stored& get() {
        if (!has_value()) [[unlikely]] {
            if (has_error()) {
                std::rethrow_exception(std::get<1>(state_));
            }
            detail::panic("outcome", {}, site(),
                          "value() was called on a cancelled outcome, which holds no value; check has_value() first");
        }
        return *std::get_if<0>(&state_);
    }

    std::variant<stored, std::exception_ptr, cancelled> state_;
    std::unique_ptr<std::vector<std::exception_ptr>> others_;
};

}  // namespace roost::inline ROOST_ABI
