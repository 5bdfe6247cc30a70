#include <roost/base/misuse.hpp>

#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/detail/report_misuse.hpp>

#include <roost/base/failure_sink.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using namespace roost;

std::string heard;
void listen(std::string_view what, std::string_view name, site, std::exception_ptr error) noexcept {
    heard = std::string(what) + " '" + std::string(name) + "': " + describe(error);
}

TEST(misuse, BASE_58_goes_to_the_failure_sink_as_a_type_of_its_own) {
    const failure_sink before = set_failure_sink(&listen);
    detail::report_misuse("mutex", "accounts", site(), "lock() was called and never awaited");
    set_failure_sink(before);
    EXPECT_EQ(heard.find("mutex 'accounts': roost::"), 0U);
    EXPECT_NE(heard.find("misuse: lock() was called and never awaited"), std::string::npos);
}

TEST(misuse, BASE_58_the_default_sink_prints_one_sentence) {
    ::testing::internal::CaptureStderr();
    detail::report_misuse("mutex", "accounts", site(), "it was never awaited");
    detail::report_misuse("task", "", site(), "it never ran");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "roost: mutex 'accounts': it was never awaited\nroost: task: it never ran\n");
    ::testing::internal::CaptureStderr();
    detail::report_misuse("job", "x", site::here(), "it was not started");
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("roost: job 'x' ("), std::string::npos);
    EXPECT_NE(text.find("misuse_test.cpp:"), std::string::npos);
}

TEST(misuse, BASE_59_drops_are_quiet_while_a_body_is_destroyed_or_an_exception_unwinds) {
    EXPECT_FALSE(detail::drops_are_quiet());
    {
        const detail::quiet_drops outer;
        {
            const detail::quiet_drops inner;
            EXPECT_TRUE(detail::drops_are_quiet());
        }
        EXPECT_TRUE(detail::drops_are_quiet());
    }
    EXPECT_FALSE(detail::drops_are_quiet());
    struct looks {
        bool& quiet;
        ~looks() { quiet = detail::drops_are_quiet(); }
    };
    bool quiet = false;
    try {
        const looks l{quiet};
        throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
        EXPECT_TRUE(quiet);
    }
}

}  // namespace
