#include <roost/observe/metric_name.hpp>

#include <roost/base/error.hpp>
#include <roost/observe/detail/family.hpp>

#include <string>

namespace roost::inline ROOST_ABI::metrics {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view why) {
    std::string shown;
    detail::append_clean(shown, text, 60);
    throw error(errc::refused, std::string(what) + " '" + shown + "' is not valid: " + std::string(why));
}

}  // namespace

metric_name metric_name::checked(std::string_view text) {
    if (!is_valid(text)) {
        refuse("the metric's name", text,
               "it has letters, digits, '_' and ':' only, does not begin with a digit, and has 1 to 200 characters");
    }
    return {is_checked(), text};
}

label_name label_name::checked(std::string_view text) {
    if (!is_valid(text)) {
        refuse(
            "the label's name", text,
            "it has letters, digits and '_' only, begins neither with a digit nor with '__', has 1 to 200 characters, and "
            "is not 'le' or 'quantile'");
    }
    return {is_checked(), text};
}

void metric_name::a_metric_name_has_letters_digits_underscores_and_colons_and_begins_with_no_digit() {}
void label_name::a_label_name_has_letters_digits_and_underscores_and_is_not_reserved() {}

}  // namespace roost::inline ROOST_ABI::metrics
