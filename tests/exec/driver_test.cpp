#include <roost/exec/driver.hpp>

#include <gtest/gtest.h>

#include <roost/exec/executor.hpp>

namespace {

using namespace roost;

class counted_source final : public ext::event_source {
public:
    counted_source() noexcept : event_source(&counted_source::count) {}
    int readable = 0;
    int ended = 0;

private:
    static void count(ext::event_source& self, ext::io_events what) noexcept {
        auto& mine = static_cast<counted_source&>(self);
        mine.readable += what.is_readable() ? 1 : 0;
        mine.ended += what.is_ended() ? 1 : 0;
    }
};

TEST(driver, IO_84_a_source_is_told_what_happened) {
    counted_source source;
    source.happened(ext::io_events(true, false, false));
    source.happened(ext::io_events(true, true, true));
    EXPECT_EQ(source.readable, 2);
    EXPECT_EQ(source.ended, 1);
}

TEST(driver, IO_84_an_executor_has_none_unless_it_says_so) {
    ext::inline_executor plain;
    std::error_code why;
    EXPECT_EQ(plain.reactor(), nullptr);
    EXPECT_EQ(plain.make_reactor(why), nullptr);
    EXPECT_EQ(why, std::errc::operation_not_supported);
}

}  // namespace
