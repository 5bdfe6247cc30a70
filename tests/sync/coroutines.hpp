#pragma once

// Coroutine types that know nothing of Roost's tasks, and an executor that a test turns by hand.

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/timer.hpp>
#include <roost/sync/waiter.hpp>

#include <coroutine>
#include <cstdlib>
#include <exception>
#include <utility>

namespace sync_testing {

// Runs at once, destroys itself at the end, has no executor: resumed on the waking thread.
class fire {
public:
    struct promise_type {
        fire get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

// Runs at once; the test owns the frame. Its first parameter, if it is an executor, is where it is resumed.
template <bool HasExecutor>
class basic_owned {
public:
    struct bare_promise {
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
    struct hosted_promise : bare_promise {
        template <class... Args>
        explicit hosted_promise(roost::executor& e, Args&&...) noexcept : where(e) {}
        template <class Closure, class... Args>
        explicit hosted_promise(const Closure&, roost::executor& e, Args&&...) noexcept : where(e) {}
        [[nodiscard]] roost::executor_ref get_executor() const noexcept { return where; }
        roost::executor_ref where;
    };
    struct promise_type : std::conditional_t<HasExecutor, hosted_promise, bare_promise> {
        using base = std::conditional_t<HasExecutor, hosted_promise, bare_promise>;
        using base::base;
        basic_owned get_return_object() noexcept {
            return basic_owned(std::coroutine_handle<promise_type>::from_promise(*this));
        }
    };

    basic_owned() noexcept = default;
    explicit basic_owned(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
    basic_owned(basic_owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    basic_owned& operator=(basic_owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~basic_owned() { destroy(); }

    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    void destroy() noexcept {
        if (auto h = std::exchange(handle_, nullptr)) {
            h.destroy();
        }
    }

private:
    std::coroutine_handle<promise_type> handle_;
};

using owned = basic_owned<false>;
using hosted = basic_owned<true>;

// Work waits in it until the test says run() or forget().
class hand_executor final : public roost::executor {
public:
    bool post(roost::ext::work& w) noexcept override {
        lock_.lock();
        queue_.push(w);
        ++posted_;
        lock_.unlock();
        return true;
    }
    [[nodiscard]] roost::ext::timer_service* timers() noexcept override { return timers_; }
    void set_timers(roost::ext::timer_service* t) noexcept { timers_ = t; }

    bool run_one() noexcept {
        lock_.lock();
        roost::ext::work* w = queue_.pop();
        lock_.unlock();
        if (w == nullptr) {
            return false;
        }
        w->run();
        return true;
    }
    int run() noexcept {
        int count = 0;
        while (run_one()) {
            ++count;
        }
        return count;
    }
    // Drops what is queued, as an executor does that is shut down: none of it will run.
    int forget() noexcept {
        int count = 0;
        lock_.lock();
        while (roost::ext::work* w = queue_.pop()) {
            static_cast<roost::ext::waiter*>(w)->forgotten();
            ++count;
        }
        lock_.unlock();
        return count;
    }
    [[nodiscard]] int posted() noexcept {
        lock_.lock();
        const int count = posted_;
        lock_.unlock();
        return count;
    }

private:
    roost::seam::small_mutex lock_;
    roost::ext::work_list queue_;
    int posted_ = 0;
    roost::ext::timer_service* timers_ = nullptr;
};

// Time that moves when the test says so.
class hand_timers final : public roost::ext::timer_service {
public:
    roost::time_point now() noexcept override { return now_; }
    bool arm(roost::ext::timer& t) noexcept override {
        t.next = first_;
        t.prev = nullptr;
        if (first_ != nullptr) {
            first_->prev = &t;
        }
        first_ = &t;
        t.state = 1;
        return true;
    }
    bool disarm(roost::ext::timer& t) noexcept override {
        if (t.state != 1) {
            return false;
        }
        unlink(t);
        return true;
    }
    void advance(roost::duration d) noexcept {
        now_ += d;
        for (roost::ext::timer* t = first_; t != nullptr;) {
            roost::ext::timer* next = t->next;
            if (t->deadline() <= now_) {
                unlink(*t);
                t->fire();
            }
            t = next;
        }
    }
    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

private:
    void unlink(roost::ext::timer& t) noexcept {
        (t.prev != nullptr ? t.prev->next : first_) = t.next;
        if (t.next != nullptr) {
            t.next->prev = t.prev;
        }
        t.state = 0;
    }

    roost::ext::timer* first_ = nullptr;
    roost::time_point now_{roost::duration(1'000'000)};
};

// Rounds of a stress test: `full` times ROOST_STRESS_SCALE, at least one.
inline long rounds(double full) {
    const char* scale = std::getenv("ROOST_STRESS_SCALE");
    const double factor = scale == nullptr ? 1.0 : std::atof(scale);
    const long n = static_cast<long>(full * factor);
    return n < 1 ? 1 : n;
}

}  // namespace sync_testing
