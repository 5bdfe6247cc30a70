#pragma once

// An Asio operation with the arguments of its handler, and the result that co_await returns.

#include <roost/asio/detail/net.hpp>
#include <roost/asio/detail/operation.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// A handler's arguments without the error, which is thrown.
template <class... Args>
struct operation_result {
    using type = std::tuple<Args...>;
};
template <>
struct operation_result<> {
    using type = void;
};
template <class T>
struct operation_result<T> {
    using type = T;
};
template <class... Rest>
struct operation_result<error_code, Rest...> : operation_result<Rest...> {};
template <>
struct operation_result<error_code> : operation_result<> {};
template <class... Rest>
struct operation_result<std::exception_ptr, Rest...> : operation_result<Rest...> {};
template <>
struct operation_result<std::exception_ptr> : operation_result<> {};

// Returns true unless the exception is operation_aborted, the mere effect of the cancel.
[[nodiscard]] bool is_failure(const std::exception_ptr& error) noexcept;

template <class T>
inline constexpr bool is_tuple = false;
template <class... A>
inline constexpr bool is_tuple<std::tuple<A...>> = true;
template <class T>
inline constexpr bool is_transfer_tuple = std::is_same_v<T, std::tuple<error_code, std::size_t>>;

// Classifies a handler's arguments. Those of an adapter that hides the error count as a result: only the caller can
// interpret them.
template <class... Args>
[[nodiscard]] ended_as ending_of(const std::tuple<Args...>& given) noexcept {
    if constexpr (sizeof...(Args) == 0) {
        return ended_as::result;
    } else {
        using first = std::tuple_element_t<0, std::tuple<Args...>>;
        if constexpr (std::is_same_v<first, std::exception_ptr>) {
            const std::exception_ptr& error = std::get<0>(given);
            return !error ? ended_as::result : is_failure(error) ? ended_as::failure : ended_as::aborted;
        } else if constexpr (std::is_same_v<first, error_code>) {
            return std::get<0>(given) == net::error::operation_aborted ? ended_as::aborted : ended_as::result;
        } else if constexpr (is_transfer_tuple<first>) {  // as_tuple: the body sees how many bytes were moved before
            return std::get<1>(std::get<0>(given)) != 0 ? ended_as::result : ending_of(std::get<0>(given));
        } else if constexpr (is_tuple<first>) {
            return ending_of(std::get<0>(given));
        } else {
            return ended_as::result;
        }
    }
}

// Stores the handler's arguments.
template <class... Args>
class typed_operation : public operation {
public:
    typed_operation(promise_base& me, bool ends_at_stop) noexcept : operation(me, how_ended, ends_at_stop) {}

    template <class... Given>
    void store(Given&&... given) noexcept {
        try {
            arguments_.emplace(std::forward<Given>(given)...);
        } catch (...) {
            keep_error(std::current_exception());
        }
    }

protected:
    typename operation_result<Args...>::type take() {
        finish();
        return unpack(std::move(*arguments_));
    }

private:
    using arguments = std::tuple<Args...>;
    static constexpr bool has_exception = [] {
        if constexpr (sizeof...(Args) > 0) {
            return std::is_same_v<std::tuple_element_t<0, arguments>, std::exception_ptr>;
        }
        return false;
    }();
    static constexpr bool has_code = [] {
        if constexpr (sizeof...(Args) > 0) {
            return std::is_same_v<std::tuple_element_t<0, arguments>, error_code>;
        }
        return false;
    }();

    static ended_as how_ended(const operation& self) noexcept {
        const auto& mine = static_cast<const typed_operation&>(self);
        return mine.arguments_ ? ending_of(*mine.arguments_) : ended_as::aborted;
    }
    static auto unpack(arguments all) -> typename operation_result<Args...>::type {
        if constexpr (has_code) {
            if (std::get<0>(all)) {
                throw system_error(std::get<0>(all));
            }
        } else if constexpr (has_exception) {
            if (std::get<0>(all)) {
                std::rethrow_exception(std::get<0>(all));
            }
        }
        constexpr std::size_t skipped = has_code || has_exception ? 1 : 0;
        constexpr std::size_t left = sizeof...(Args) - skipped;
        if constexpr (left == 1) {
            return std::move(std::get<skipped>(all));
        } else if constexpr (left > 1) {
            return rest<skipped>(all, std::make_index_sequence<left>());
        }
    }
    template <std::size_t Skipped, std::size_t... I>
    static auto rest(arguments& all, std::index_sequence<I...>) {
        return std::make_tuple(std::move(std::get<I + Skipped>(all))...);
    }

    std::optional<arguments> arguments_;
};

}  // namespace roost::inline ROOST_ABI::detail
