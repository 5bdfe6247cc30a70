#pragma once

#include <roost/base/config.hpp>

#include <concepts>
#include <source_location>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// A name, and the site of the call that passes it.
class child_name {
public:
    template <class S>
        requires std::convertible_to<const S&, std::string_view>
    constexpr explicit(false)
        child_name(const S& text, std::source_location where = std::source_location::current()) noexcept
        : text_(text), where_(where) {}
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    [[nodiscard]] constexpr std::source_location site() const noexcept { return where_; }

private:
    std::string_view text_;
    std::source_location where_;
};

}  // namespace roost::inline ROOST_ABI::detail
