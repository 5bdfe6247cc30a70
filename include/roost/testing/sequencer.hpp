#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/executor.hpp>
#include <roost/exec/resume.hpp>
#include <roost/testing/names.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>

namespace roost::inline ROOST_ABI::testkit {

// Forces the steps of a test into one order, across threads and coroutines:
//
//   sequencer order;
//   thread a:  order.reach(1); write();      order.reach(4);
//   thread b:  order.reach(2); order.reach(3); read();
//
// reach(n) returns when steps 1 .. n-1 have been reached. The code after reach(1) in thread a may run beside the code after
// reach(2). To order them, put a step behind the code that must run first. Every number is reached once; a second time ends
// the program. A thread that waits in reach() for longer than the limit ends the program. The message names the missing
// step. A coroutine in wait() has no limit.
class sequencer {
public:
    explicit sequencer(duration limit = std::chrono::seconds(20)) noexcept : limit_(limit) {}
    sequencer(const sequencer&) = delete;
    sequencer& operator=(const sequencer&) = delete;
    ~sequencer();

    // Reaches the step. For threads. Blocks.
    void reach(std::uint32_t step, site where = std::source_location::current()) noexcept;
    // Reaches the step. For coroutines of any type. Resumes on the coroutine's executor; without one, on the thread that
    // reached the step before.
    class turn;
    [[nodiscard]] turn wait(std::uint32_t step, site where = std::source_location::current()) noexcept;

    // Returns the last step that was reached.
    [[nodiscard]] std::uint32_t reached() const noexcept;

private:
    bool enter(turn& t) noexcept;
    void passed() noexcept;
    void check(std::uint32_t step, site where) const noexcept;

    mutable seam::small_mutex lock_;
    seam::atomic<std::uint32_t> reached_{0};
    turn* waiting_ = nullptr;
    duration limit_;
};

class sequencer::turn : private ext::work {
public:
    turn(sequencer& of, std::uint32_t step, site where) noexcept
        : ext::work(+[](ext::work& w) noexcept {
              auto& me = static_cast<turn&>(w);
              me.resume_(me.frame_);
          }),
          of_(&of),
          step_(step),
          where_(where) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        frame_ = handle.address();
        resume_ = ext::resume_function_of<Promise>();
        executor_ = ext::executor_of(handle);
        return of_->enter(*this);
    }
    void await_resume() const noexcept {}

private:
    friend class sequencer;
    void wake() noexcept;

    sequencer* of_;
    std::uint32_t step_;
    site where_;
    void* frame_ = nullptr;
    ext::resume_function resume_ = nullptr;
    executor_ref executor_;
    turn* next_ = nullptr;
};

inline sequencer::turn sequencer::wait(std::uint32_t step, site where) noexcept { return turn(*this, step, where); }

}  // namespace roost::inline ROOST_ABI::testkit
