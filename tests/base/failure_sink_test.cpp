#include <roost/base/failure_sink.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using namespace roost::ext;

namespace {

TEST(failure_sink, TASK_39_describe_names_what_was_thrown) {
    EXPECT_EQ(describe(nullptr), "no error");
    EXPECT_EQ(describe(std::make_exception_ptr(std::out_of_range("far"))), "std::out_of_range: far");
    EXPECT_EQ(describe(std::make_exception_ptr(7)), "int");
}

TEST(failure_sink, TASK_39_null_puts_the_default_back) {
    const auto mine = +[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {};
    const auto first = set_failure_sink(mine);
    EXPECT_EQ(set_failure_sink(nullptr), mine);
    EXPECT_EQ(set_failure_sink(first), first);
}

std::string heard;

TEST(failure_sink, TASK_39_the_installed_sink_receives_what_name_site_and_error) {
    heard.clear();
    const auto before =
        set_failure_sink(+[](std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
            heard = std::string(what) + "|" + std::string(name) + "|" +
                    std::string(made_at.is_known() ? "known" : "unknown") + "|" + describe(error);
        });
    report_failure("hook of", "pump", site(), std::make_exception_ptr(std::runtime_error("dry")));
    set_failure_sink(before);
    EXPECT_EQ(heard, "hook of|pump|unknown|std::runtime_error: dry");
}

}  // namespace
