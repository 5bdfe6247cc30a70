#pragma once

// What most tests of this layer stand on: a manual executor with hand-moved timers and a root scope on it.

#include <roost/base/failure_sink.hpp>
#include <roost/exec/timer.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/manual_executor.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace rig {

// Timers that fire when the test moves the time. Single-threaded.
class hand_timers final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override { return now_; }
    bool arm(roost::ext::timer& t) noexcept override {
        if (closed) {
            return false;
        }
        t.prev = nullptr;
        t.next = first_;
        if (first_ != nullptr) {
            first_->prev = &t;
        }
        first_ = &t;
        t.state = 1;
        ++armed_;
        return true;
    }
    bool disarm(roost::ext::timer& t) noexcept override {
        if (t.state == 0) {
            return false;
        }
        (t.prev != nullptr ? t.prev->next : first_) = t.next;
        if (t.next != nullptr) {
            t.next->prev = t.prev;
        }
        t.state = 0;
        --armed_;
        return true;
    }
    // Fires what is due, earliest first.
    void advance(roost::duration d) {
        now_ += d;
        while (roost::ext::timer* due = earliest()) {
            disarm(*due);
            due->fire();
        }
    }
    // The time passes, and no timer has had a chance to fire.
    void skip(roost::duration d) { now_ += d; }
    [[nodiscard]] std::size_t armed() const { return armed_; }
    bool closed = false;

private:
    // Of those with the same deadline the one that was armed first.
    [[nodiscard]] roost::ext::timer* earliest() const {
        roost::ext::timer* found = nullptr;
        for (roost::ext::timer* t = first_; t != nullptr; t = t->next) {
            if (t->deadline() <= now_ && (found == nullptr || t->deadline() <= found->deadline())) {
                found = t;
            }
        }
        return found;
    }

    roost::time_point now_ = roost::time_point(std::chrono::seconds(1000));
    roost::ext::timer* first_ = nullptr;
    std::size_t armed_ = 0;
};

class manual final : public roost::executor {
public:
    bool post(roost::ext::work& w) noexcept override { return inner_.post(w); }
    roost::ext::timer_service* timers() noexcept override { return &timers_; }
    [[nodiscard]] bool is_here() const noexcept override { return inner_.is_here(); }
    [[nodiscard]] std::string_view name() const noexcept override { return "rig"; }

    std::size_t run() { return inner_.run_all(); }
    bool run_one() { return inner_.run_one(); }
    void advance(roost::duration d) {
        timers_.advance(d);
        run();
    }
    [[nodiscard]] hand_timers& clock() { return timers_; }

private:
    roost::testing::manual_executor inner_{"rig"};
    hand_timers timers_;
};

// An executor, a root scope on it, and the promise that nothing is left at the end.
class stage {
public:
    stage() = default;
    ~stage() {
        root.request_close();
        executor.run();
        if (!root.is_closed()) {
            ADD_FAILURE() << "children were left at the end of the test";
            root.cancel();
            executor.run();
        }
        EXPECT_EQ(executor.clock().armed(), 0U) << "a timer was left armed";
    }
    template <class T>
    roost::job start(roost::task<T> t, const char* name = "job") {
        return root.launch(name, std::move(t));
    }
    // Starts it and runs until nothing is left to run.
    template <class T>
    roost::job play(roost::task<T> t, const char* name = "job") {
        roost::job j = start(std::move(t), name);
        executor.run();
        return j;
    }
    void run() { executor.run(); }
    void advance(roost::duration d) { executor.advance(d); }

    manual executor;
    roost::owned_scope root{executor, roost::scope_options("root").report_failures()};
};

// Counts how many of it are alive, and where they die.
class tracked {
public:
    explicit tracked(int& alive) : alive_(&alive) { ++*alive_; }
    tracked(const tracked& other) : alive_(other.alive_) { ++*alive_; }
    tracked(tracked&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    tracked& operator=(const tracked&) = delete;
    ~tracked() { --*alive_; }

private:
    int* alive_;
};

}  // namespace rig
