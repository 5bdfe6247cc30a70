#pragma once

// An executor with a blocking lane, all of it on the thread that runs it: a fault that is planted in that thread reaches what
// would be on others.

#include <roost/exec/blocking.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/manual_executor.hpp>

#include "../gauntlet/failing_calls.hpp"
#include "../task/rig.hpp"

#include <exception>
#include <string_view>
#include <utility>

namespace adapters_testing {

class one_thread final : public roost::executor, private roost::ext::blocking_service {
public:
    bool post(roost::ext::work& w) noexcept override { return inner_.post(w); }
    roost::ext::timer_service* timers() noexcept override { return &timers_; }
    roost::ext::blocking_service* blocking() noexcept override { return this; }
    [[nodiscard]] bool is_here() const noexcept override { return inner_.is_here(); }
    [[nodiscard]] std::string_view name() const noexcept override { return "one thread"; }

    // Until nothing is left to run.
    void run() {
        do {
            inner_.run_all();
        } while (run_blocking());
    }
    // The same while other threads may post.
    template <class Done>
    void run_until(Done done) {
        inner_.run_until_waiting([&] {
            while (run_blocking()) {}
            return done();
        });
    }
    void wake() noexcept { inner_.wake(); }

private:
    bool submit(roost::ext::blocking_work& w) noexcept override {
        w.prev = nullptr;
        (last_ == nullptr ? first_ : last_->prev) = &w;  // its only link here
        last_ = &w;
        w.queued = true;
        return true;
    }
    bool withdraw(roost::ext::blocking_work& w) noexcept override {
        roost::ext::blocking_work* before = nullptr;
        for (roost::ext::blocking_work* at = first_; at != nullptr; before = std::exchange(at, at->prev)) {
            if (at == &w) {
                (before == nullptr ? first_ : before->prev) = w.prev;
                last_ = last_ == &w ? before : last_;
                w.queued = false;
                return true;
            }
        }
        return false;
    }
    bool run_blocking() noexcept {
        roost::ext::blocking_work* w = first_;
        if (w == nullptr) {
            return false;
        }
        withdraw(*w);
        w->run();
        return true;
    }

    roost::testing::manual_executor inner_{"one thread"};
    rig::hand_timers timers_;
    roost::ext::blocking_work* first_ = nullptr;
    roost::ext::blocking_work* last_ = nullptr;
};

// Failures are what the tests are about; they are not printed.
class silence {
public:
    silence()
        : before_(roost::set_failure_sink(
              +[](std::string_view, std::string_view, roost::site, std::exception_ptr) noexcept {})) {}
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;
    ~silence() { roost::set_failure_sink(before_); }

private:
    roost::failure_sink before_;
};

// Runs a task to its end and throws what it failed with; `waits`: other threads bring it on.
inline void play_on(one_thread& where, roost::task<> t, bool waits = false) {
    std::exception_ptr failed;
    {
        roost::owned_scope root(where, roost::scope_options("root").report_failures());
        try {
            const roost::job j = root.launch("job", std::move(t));
            if (waits) {
                where.run_until([&] { return j.is_finished(); });
            }
            where.run();
            EXPECT_TRUE(j.is_finished());
            failed = j.error();
        } catch (...) {
            failed = std::current_exception();
        }
        root.request_close();
        where.run();
    }
    if (failed) {
        std::rethrow_exception(failed);
    }
}

}  // namespace adapters_testing
