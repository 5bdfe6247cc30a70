#include <roost/service/attachment.hpp>

#include "memory_sink.hpp"

#include <roost/service/service.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace roost::service {
namespace {

// Writes down when it is destroyed.
class kept {
public:
    kept(std::string& order, std::string name) : order_(order), name_(std::move(name)) {}
    kept(const kept&) = delete;
    kept& operator=(const kept&) = delete;
    ~kept() { order_ += name_; }

private:
    std::string& order_;
    std::string name_;
};

static_assert(!static_cast<bool>(options().attached()));

TEST(attachment, OBS_280_attachments_are_called_with_the_host_before_the_root_task) {
    memory_sink sink;
    std::string order;
    const options o = sink.quiet()
                          .attach([&](host& h) { order += h.phase() == phase::running && !h.is_ready() ? "first " : "?"; })
                          .attach([&](host&) { order += "second "; });
    const options copy = o;
    EXPECT_EQ(run(
                  [&](host&) -> task<> {
                      order += "root";
                      co_return;
                  },
                  copy),
              0);
    EXPECT_EQ(order, "first second root");
    EXPECT_TRUE(static_cast<bool>(o.attached()));
}

TEST(attachment, OBS_280_one_that_throws_keeps_the_service_from_starting) {
    memory_sink sink;
    std::string order;
    bool ran = false;
    const options o = sink.quiet().attach([&](host& h) {
        h.keep(std::make_shared<kept>(order, "released"));
        throw std::runtime_error("no licence");
    });
    const auto root = [&](host&) -> task<> {
        ran = true;
        co_return;
    };
    EXPECT_EQ(run(root, o), exit_code::bad_options);
    EXPECT_FALSE(ran);
    EXPECT_EQ(order, "released");
    EXPECT_TRUE(sink.has("was not started: no licence"));
}

TEST(attachment, OBS_281_what_the_host_keeps_is_released_after_everything_in_reverse_order) {
    memory_sink sink;
    std::string order;
    const options o = sink.quiet().attach([&](host& h) { h.keep(std::make_shared<kept>(order, "first ")); });
    const auto root = [&](host& h) -> task<> {
        h.keep(std::make_shared<kept>(order, "second "));
        h.add("pool", component_options().release()).on_stop([&]() -> task<> {
            order += "pool ";
            co_return;
        });
        co_return;
    };
    EXPECT_EQ(run(root, o), 0);
    EXPECT_EQ(order, "pool second first ");
}

}  // namespace
}  // namespace roost::service
