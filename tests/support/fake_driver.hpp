#pragma once

// A driver without a kernel: an event is a number that another thread adds, and what it wakes is a work item.

#include <roost/base/atomic.hpp>
#include <roost/exec/driver.hpp>
#include <roost/exec/executor.hpp>
#include <roost/testing/explore.hpp>

namespace test_support {

class fake_driver final : public roost::ext::driver {
public:
    // Each event posts the next of these items, behind everything else.
    void bind(roost::executor& to, roost::ext::work& w) noexcept {
        to_ = &to;
        work_ = &w;
    }
    void happen() noexcept { change(event); }

    bool poll() noexcept override {
        inside_.set(inside_.get() + 1);  // a race with another thread in here is found by the explorer
        const std::uint32_t before = word_.fetch_and(~(event | woken), roost::seam::mo::acquire);
        if ((before & event) != 0 && to_ != nullptr) {
            to_->post_last(*work_);
        }
        return (before & event) != 0;
    }
    void park(roost::time_point deadline) noexcept override {
        inside_.set(inside_.get() + 1);
        parked_.store(true, roost::seam::mo::relaxed);
        while (word_.load(roost::seam::mo::acquire) == 0 && roost::seam::wait_on_until(word_, 0, deadline)) {}
    }
    void wake() noexcept override { change(woken); }
    [[nodiscard]] bool is_parked() const noexcept { return parked_.load(roost::seam::mo::relaxed); }
    roost::ext::reactor* reactor(std::error_code& why) noexcept override {
        why = std::make_error_code(std::errc::operation_not_supported);
        return nullptr;
    }
    void close() noexcept override {}

private:
    static constexpr std::uint32_t event = 1;
    static constexpr std::uint32_t woken = 2;

    void change(std::uint32_t bit) noexcept {
        word_.fetch_or(bit, roost::seam::mo::release);
        roost::seam::wake_on(&word_, 1);
    }

    roost::executor* to_ = nullptr;
    roost::ext::work* work_ = nullptr;
    roost::seam::atomic<std::uint32_t> word_{0};
    roost::seam::atomic<bool> parked_{false};
    roost::seam::plain<int> inside_{0};
};

}  // namespace test_support
