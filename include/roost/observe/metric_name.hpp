#pragma once

// Names of metrics and of their labels. A literal is checked at compile time; checked() checks other text.
//
//   metrics::counter orders("shop_orders_total", "Orders accepted.");            does not compile if the name is not valid
//   metrics::metric_name::checked(text)                                          throws error(refused) with the reason

#include <roost/base/config.hpp>

#include <cstddef>
#include <string_view>

namespace roost::inline ROOST_ABI::metrics {

// Letters, digits, '_' and ':'; the first character is no digit. At most 200 characters.
class metric_name {
public:
    static constexpr std::size_t longest = 200;

    template <std::size_t N>
    consteval explicit(false) metric_name(const char (&text)[N]) : text_(text, N - 1) {
        if (!is_valid(text_)) {
            a_metric_name_has_letters_digits_underscores_and_colons_and_begins_with_no_digit();
        }
    }
    // Requires that the text lives as long as this object. Throws error(refused).
    [[nodiscard]] static metric_name checked(std::string_view text);
    [[nodiscard]] static constexpr bool is_valid(std::string_view text) noexcept { return has_valid_characters(text, true); }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    friend class label_name;
    struct is_checked {};
    constexpr metric_name(is_checked /*tag*/, std::string_view text) noexcept : text_(text) {}
    // Not constexpr: a call ends the compilation, with this name in the message.
    static void a_metric_name_has_letters_digits_underscores_and_colons_and_begins_with_no_digit();

    [[nodiscard]] static constexpr bool has_valid_characters(std::string_view text, bool with_colons) noexcept {
        bool is_first = true;
        for (const char c : text) {
            const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (with_colons && c == ':');
            if (!is_letter && (is_first || c < '0' || c > '9')) {
                return false;
            }
            is_first = false;
        }
        return !is_first && text.size() <= longest;
    }

    std::string_view text_;
};

// As metric_name, without colons. It does not begin with two underscores, and is neither 'le' nor 'quantile'.
class label_name {
public:
    template <std::size_t N>
    consteval explicit(false) label_name(const char (&text)[N]) : text_(text, N - 1) {
        if (!is_valid(text_)) {
            a_label_name_has_letters_digits_and_underscores_and_is_not_reserved();
        }
    }
    // Requires that the text lives as long as this object. Throws error(refused).
    [[nodiscard]] static label_name checked(std::string_view text);
    [[nodiscard]] static constexpr bool is_valid(std::string_view text) noexcept {
        return metric_name::has_valid_characters(text, false) && !text.starts_with("__") && text != "le" &&
               text != "quantile";
    }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    struct is_checked {};
    constexpr label_name(is_checked /*tag*/, std::string_view text) noexcept : text_(text) {}
    static void a_label_name_has_letters_digits_and_underscores_and_is_not_reserved();

    std::string_view text_;
};

}  // namespace roost::inline ROOST_ABI::metrics
