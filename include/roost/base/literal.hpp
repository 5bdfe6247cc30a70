#pragma once

#include <roost/base/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace roost::inline ROOST_ABI {

// Text that lives as long as the program: a string literal, or a constant array. Objects that keep a pointer to their name take
// this type. It is made at compile time only, so text of another lifetime does not compile.
//
//   roost::event ready("ready");
//   std::make_unique<roost::event>(roost::literal("ready"))     a forwarded literal is an ordinary array: wrap it
//   roost::event ready(roost::literal::unchecked(text))         requires that text outlives the event
class literal {
public:
    template <std::size_t N>
    consteval explicit(false) literal(const char (&text)[N]) noexcept : text_(text) {}
    template <class S>
        requires(std::is_convertible_v<const S&, std::string_view> && !std::is_array_v<S>)
    explicit(false) literal(const S& text) = delete;  // the name is kept, not copied: pass a string literal
    template <std::size_t N>
    explicit(false) literal(char (&text)[N]) = delete;  // the name is kept, not copied: pass a string literal

    [[nodiscard]] static constexpr literal unchecked(const char* text) noexcept { return literal(kept(), text); }

    [[nodiscard]] constexpr const char* text() const noexcept { return text_; }

private:
    struct kept {};
    constexpr literal(kept /*tag*/, const char* text) noexcept : text_(text) {}

    const char* text_;
};

}  // namespace roost::inline ROOST_ABI
