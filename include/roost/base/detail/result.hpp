#pragma once

// How a result is held whose type may be void or a reference.
//
//   T          stored_t<T>      kept_t<T>                   optional_result<T>
//   void       std::monostate   std::monostate              bool
//   X&, X&&    X*               std::reference_wrapper<X>   X*
//   X          X                X                           std::optional<X>     without const
//
// stored_t is for an owner that returns the T again. kept_t is what a user sees: it can be moved and put in a tuple, a variant or
// an optional. optional_result is a T that there may be none of: false, null or empty then.

#include <roost/base/config.hpp>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace roost::inline ROOST_ABI::detail {

template <class T>
using stored_t = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<std::remove_reference_t<T>>, std::remove_cv_t<T>>>;

template <class T>
using kept_t = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, std::remove_cv_t<T>>>;

template <class T>
using optional_result = std::conditional_t<
    std::is_void_v<T>, bool,
    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, std::optional<std::remove_cv_t<T>>>>;

// Reads a stored T.
template <class T>
class result_in {
public:
    // Returns a reference to the T.
    static std::add_lvalue_reference_t<T> refer([[maybe_unused]] stored_t<T>& from) noexcept {
        if constexpr (std::is_reference_v<T>) {
            return *from;
        } else if constexpr (!std::is_void_v<T>) {
            return from;
        }
    }
    // Returns the T. Moves a value out.
    static T take([[maybe_unused]] stored_t<T>& from) {
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*from);
        } else if constexpr (!std::is_void_v<T>) {
            return std::move(from);
        }
    }
    // As take(), for a user to keep.
    [[nodiscard]] static kept_t<T> keep(stored_t<T>& from) {
        if constexpr (std::is_reference_v<T>) {
            return std::ref(*from);
        } else {
            return std::move(from);
        }
    }
};

// Makes a To, such as an optional, of `first` and of what get() returns. If get() returns void, of `first` alone.
template <class To>
class made_of {
public:
    template <class Get, class... First>
    [[nodiscard]] static To result(Get get, First... first) {
        if constexpr (std::is_void_v<decltype(get())>) {
            get();
            return To(first...);
        } else {
            return To(first..., get());
        }
    }
};

}  // namespace roost::inline ROOST_ABI::detail
