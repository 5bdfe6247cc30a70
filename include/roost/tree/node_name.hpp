#pragma once

#include <roost/base/literal.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace roost::inline ROOST_ABI {

// A name. Keeps a literal by pointer and copies any other text. A literal is recognised at compile time. A constant array of
// unknown lifetime, such as a local one, does not compile: pass a std::string_view, which is copied. A forwarded literal
// (std::make_unique, emplace) must be wrapped: node_name("x"). Two words wide, so that it is passed in registers. Three
// words would be passed on the stack, and reading them would wait for the stores.
class node_name {
public:
    template <std::size_t N>
    consteval explicit(false) node_name(const char (&text)[N]) noexcept : data_(text), size_((N - 1) | literal_bit) {}
    template <std::size_t N>
    constexpr explicit(false) node_name(char (&buffer)[N]) noexcept : node_name(std::string_view(buffer)) {}
    constexpr explicit(false) node_name(literal text) noexcept : node_name(std::string_view(text.text()), literal_bit) {}
    template <class S>
        requires std::is_convertible_v<const S&, std::string_view> && (!std::is_array_v<S>)
    constexpr explicit(false) node_name(const S& text) noexcept : node_name(static_cast<std::string_view>(text), 0) {}

    [[nodiscard]] constexpr std::string_view text() const noexcept { return {data_, size_ & ~literal_bit}; }
    [[nodiscard]] constexpr bool is_literal() const noexcept { return (size_ & literal_bit) != 0; }

private:
    static constexpr std::size_t literal_bit = ~(~std::size_t(0) >> 1U);
    constexpr node_name(std::string_view text, std::size_t bits) noexcept : data_(text.data()), size_(text.size() | bits) {}

    const char* data_;
    std::size_t size_;
};
static_assert(sizeof(node_name) == 2 * sizeof(void*) && std::is_trivially_copyable_v<node_name>);

}  // namespace roost::inline ROOST_ABI
