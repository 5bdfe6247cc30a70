#include <roost/observe/metric_name.hpp>

#include <roost/base/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using roost::metrics::label_name;
using roost::metrics::metric_name;

static_assert(metric_name("a:b_9").text() == "a:b_9" && label_name("a_9").text() == "a_9");
static_assert(!metric_name::is_valid("") && !metric_name::is_valid("9a") && !metric_name::is_valid("a-b"));
static_assert(!metric_name::is_valid("a b") && !metric_name::is_valid("\xc3\xbc"));
static_assert(!label_name::is_valid("a:b") && !label_name::is_valid("__a") && !label_name::is_valid("le"));

TEST(metric_name, OBS_152_a_name_that_is_not_valid_is_refused_with_a_sentence) {
    EXPECT_EQ(metric_name::checked("fine").text(), "fine");
    EXPECT_EQ(label_name::checked("fine").text(), "fine");
    const auto sentence = [](auto make) -> std::string {
        try {
            make();
        } catch (const roost::error& e) {
            return e.what();
        }
        return "none";
    };
    EXPECT_EQ(sentence([] { static_cast<void>(metric_name::checked("my metric")); }),
              "the metric's name 'my metric' is not valid: it has letters, digits, '_' and ':' only, does not begin with a "
              "digit, and has 1 to 200 characters: refused");
    EXPECT_NE(sentence([] { static_cast<void>(metric_name::checked(std::string(201, 'a'))); }), "none");
    EXPECT_EQ(
        sentence([] { static_cast<void>(label_name::checked("quantile")); }),
        "the label's name 'quantile' is not valid: it has letters, digits and '_' only, begins neither with a digit nor "
        "with '__', has 1 to 200 characters, and is not 'le' or 'quantile': refused");
}

}  // namespace
