#pragma once

#include <roost/base/config.hpp>

#include <concepts>
#include <source_location>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// An argument, and the site of the call it is passed in. For functions whose last parameters are a pack, after which no
// default argument can stand.
template <class T>
class placed {
public:
    explicit(false) placed(std::source_location where = std::source_location::current())
        requires std::default_initializable<T>
        : where_(where) {}
    template <class U>
        requires std::convertible_to<U&&, T>
    explicit(false) placed(U&& value, std::source_location where = std::source_location::current())
        : value_(std::forward<U>(value)), where_(where) {}

    [[nodiscard]] T& value() noexcept { return value_; }
    [[nodiscard]] std::source_location site() const noexcept { return where_; }

private:
    T value_;
    std::source_location where_;
};

}  // namespace roost::inline ROOST_ABI::detail
