// Users of a descriptor, and its end.

#include <roost/io/detail/pollable.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using namespace roost;
using namespace roost::seam;
using io::detail::direction;
using io::detail::moved;
using io::detail::pollable;
using testing::check;

// A descriptor that another file may get once it was shut, in memory that is used again once it was released.
class counted final : public pollable {
public:
    counted() noexcept : pollable(true) {}
    ~counted() = default;
    void use() noexcept { content_.set(content_.get() + 1); }
    // What the owner may look at until it drops it.
    void look() noexcept { static_cast<void>(memory_.get()); }
    [[nodiscard]] int shuts() noexcept { return shuts_.get(); }
    [[nodiscard]] int releases() noexcept { return releases_.get(); }

    std::error_code attach(executor_ref, direction) noexcept override { return {}; }
    moved read(const iovec*, int) noexcept override { return {0, 0}; }
    moved write(const iovec*, int) noexcept override { return {0, 0}; }
    int end_writing() noexcept override { return 0; }
    bool block(direction, time_point) noexcept override { return true; }
    const char* name() const noexcept override { return "counted"; }

private:
    void shut() noexcept override {
        content_.set(-1);  // a use that is still inside races with this
        shuts_.set(shuts_.get() + 1);
    }
    void released() noexcept override {
        check(shuts_.get() == 1, "IO-15: shut before");
        content_.set(-2);
        memory_.set(1);
        drop_limits();
        releases_.set(releases_.get() + 1);
    }
    plain<int> content_{0};
    plain<int> memory_{0};
    plain<int> shuts_{0};
    plain<int> releases_{0};
};

// An operation begins while the handle is closed.
MODEL_COMPLETE(pollable_model, IO_15_close_vs_enter) {
    counted p;
    thread user([&] {
        if (p.enter()) {
            p.use();
            p.leave();
        }
    });
    p.close();
    user.join();
    check(p.shuts() == 1 && p.releases() == 0, "IO-15: shut once, the memory stays");
    check(p.is_closed() && !p.enter(), "IO-13: no further operation begins");
    p.close();
    p.drop();
    check(p.shuts() == 1 && p.releases() == 1, "IO-15: released with the handle");
}

MODEL_COMPLETE(pollable_model, IO_15_last_user_closes) {
    counted p;
    check(p.enter() && p.enter(), "open");
    thread user([&] {
        p.use();
        p.leave();
    });
    p.close();
    check(p.shuts() == 0, "IO-15: in use");
    p.leave();
    user.join();
    check(p.shuts() == 1, "IO-15: shut once, after every touch");
    p.drop();
    check(p.releases() == 1, "IO-15: released with the handle");
}

// The handle is destroyed while an operation ends.
MODEL_COMPLETE(pollable_model, IO_15_dropped_beside_last_use) {
    counted p;
    check(p.enter(), "open");
    thread user([&] {
        p.use();
        p.leave();
    });
    p.close();
    p.look();
    p.drop();
    user.join();
    check(p.shuts() == 1 && p.releases() == 1, "IO-15: each once, after every touch");
}

MODEL_COMPLETE(pollable_model, IO_15_two_close) {
    counted p;
    thread other([&] { p.close(); });
    p.close();
    other.join();
    p.drop();
    check(p.shuts() == 1 && p.releases() == 1, "IO-15: each once");
}

// Two tasks need the limits for the first time.
MODEL_COMPLETE(pollable_model, IO_14_limits_vs_wait) {
    counted p;
    thread other([&] { p.set_limit(direction::out, std::chrono::seconds(1)); });
    p.pause();
    p.begin_wait(direction::out, executor_ref());
    other.join();
    check(p.take_pause(), "IO-14: the limits of one task are those of the other");
    p.close();
    p.drop();
}

}  // namespace
