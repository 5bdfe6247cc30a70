#pragma once

// What `co_await x` becomes inside a task.
//
//   a task                          runs it in the same job: task/detail/frame/task_await.hpp
//   one of this layer's own         x.in_task(promise)
//   an awaiter with try_cancel()    cancellable_await: abandoned when the region is cancelled
//   anything else                   foreign_await: cannot be abandoned; checked before and after
//
// Each of them starts with a checkpoint: in a cancelled region the await does not begin and the frame unwinds. An await that
// is ready counts a step (task/detail/frame/give_way.hpp): other work may run before it continues with its result.

#include <roost/base/clock.hpp>
#include <roost/base/detail/measuring.hpp>
#include <roost/exec/detail/awaitable.hpp>
#include <roost/exec/resume.hpp>
#include <roost/sync/detail/lock_takers.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/task/detail/access.hpp>
#include <roost/task/detail/frame/bridge.hpp>
#include <roost/task/detail/frame/give_way.hpp>
#include <roost/task/detail/job/region.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// In checked builds: reports that the job waits for a lock that it was the last to take.
[[gnu::cold]] void report_own_lock(const promise_base& frame, wait_target lock) noexcept;

// While it exists, what this thread takes is taken by the frame's job: for holdings.
class noted_taker {
public:
    explicit noted_taker(const promise_base& frame) noexcept : is_noted_(holdings::is_on()) {
        if (is_noted_) [[unlikely]] {
            note(frame);
        }
    }
    noted_taker(const noted_taker&) = delete;
    noted_taker& operator=(const noted_taker&) = delete;
    ~noted_taker() {
        if (is_noted_) [[unlikely]] {
            forget();
        }
    }

private:
    [[gnu::noinline, gnu::cold]] static void note(const promise_base& frame) noexcept;
    [[gnu::noinline, gnu::cold]] static void forget() noexcept;
    const bool is_noted_;
};
class no_taker {
public:
    explicit no_taker(const promise_base& /*frame*/) noexcept {}
};

// --- Roost's own waits -------------------------------------------------------------------------------------------------

template <class Awaiter>
class cancellable_await final : private cancellable {
public:
    template <class A>
    cancellable_await(promise_base& me, A&& a) : cancellable(me, functions), inner_(get_awaiter(std::forward<A>(a))) {
        if constexpr (requires { inner_.set_awaited(); }) {
            inner_.set_awaited();
        }
    }

    [[nodiscard]] bool await_ready() {
        ready_ = !frame().region().is_cancelled_relaxed() && inner_.await_ready();
        return ready_ && may_go_on(frame());
    }

    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> self) {
        promise_base& me = frame();
        if (ready_) [[unlikely]] {
            return give_way(me);
        }
        region& in = me.region();
        if (in.is_cancelled_relaxed()) [[unlikely]] {
            if (ends_with_part(in)) {
                return false;
            }
            unwind_frame(me);
            return true;
        }
        if constexpr (locks) {
            if (is_lock_taker(inner_.exclusive_lock(), &in.owner())) [[unlikely]] {
                report_own_lock(me, inner_.waits_on());
            }
        }
        if constexpr (requires { inner_.waits_on(); }) {
            std::construct_at(&label_, inner_.waits_on());
        }
        suspended_ = true;
        since_.begin();
        if (!publish(self)) {
            suspended_ = false;
            return false;
        }
        if (in.commit(*this)) [[unlikely]] {
            unwind_frame(me);
        }
        return true;
    }

    decltype(auto) await_resume() {
        if (suspended_) {
            frame().region().disarm(*this);
            since_.end();
        }
        const std::conditional_t<takes, noted_taker, no_taker> by(frame());
        return resume_inner();
    }

private:
    decltype(auto) resume_inner() {
        if constexpr (locks) {
            const taker_note note(inner_.exclusive_lock(), &frame().region().owner());
            return inner_.await_resume();
        } else {
            return inner_.await_resume();
        }
    }
    static constexpr bool locks = notes_lock_takers && requires(std::remove_reference_t<Awaiter>& a) { a.exclusive_lock(); };
    static constexpr bool takes = is_taking<std::remove_reference_t<Awaiter>> && holdings::is_possible;
    // Runs after the lock's own note, which does not know jobs.
    class taker_note {
    public:
        taker_note(const void* lock, const job_core* by) noexcept : lock_(lock), by_(by) {}
        taker_note(const taker_note&) = delete;
        taker_note& operator=(const taker_note&) = delete;
        ~taker_note() { note_lock_taker(lock_, by_); }

    private:
        const void* lock_;
        const job_core* by_;
    };

    // For an operation that has done a part of its work in await_ready(): unless the job itself is cancelled, it completes.
    [[nodiscard]] bool ends_with_part([[maybe_unused]] const region& in) noexcept {
        if constexpr (requires { inner_.end_with_part(); }) {
            return !in.is_cancelled_with_its_job() && inner_.end_with_part();
        } else {
            return false;
        }
    }

    template <class Promise>
    bool publish(std::coroutine_handle<Promise> self) {
        try {
            return suspend_in(inner_, self);
        } catch (...) {
            suspended_ = false;
            throw;
        }
    }

    static bool cancel_inner(cancellable& self) noexcept {
        return static_cast<cancellable_await&>(self).inner_.try_cancel();
    }
    static wait_target label_of(const cancellable& self) noexcept {
        if constexpr (requires { static_cast<const cancellable_await&>(self).inner_.waits_on(); }) {
            return static_cast<const cancellable_await&>(self).label_;
        } else {
            return {};
        }
    }
    static job_core* joined(const cancellable& self) noexcept {
        return task_access::joined(static_cast<const cancellable_await&>(self).inner_);
    }
    static wait_subject subject_of(const cancellable& self) noexcept {
        if constexpr (requires { inner_.subject(); }) {
            return static_cast<const cancellable_await&>(self).inner_.subject();
        } else {
            return {};
        }
    }
    static constexpr wait_functions functions{&cancel_inner, &label_of, &joined, &subject_of};

    // How long a lock was waited for, for roost_lock_wait_seconds.
    class lock_clock {
    public:
        void begin() noexcept { at_ = measuring::is_on() ? roost::now().time_since_epoch().count() : 0; }
        void end() const noexcept {
            if (at_ != 0) [[unlikely]] {
                measuring::record(timed::lock_wait, roost::now() - time_point(duration(at_)));
            }
        }

    private:
        std::int64_t at_;
    };
    struct no_clock {
        static void begin() noexcept {}
        static void end() noexcept {}
    };
    static constexpr bool is_lock = requires(const std::remove_reference_t<Awaiter>& a) { a.measured_as_lock(); };

    [[no_unique_address]] std::conditional_t<is_lock, lock_clock, no_clock> since_;
    Awaiter inner_;
    union {
        wait_target label_;  // from await_suspend() on, so that an await that is ready need not write it
    };
    bool ready_ = false;
    bool suspended_ = false;
};

// --- foreign awaitables ------------------------------------------------------------------------------------------------

template <class Awaiter, transfer Mode>
class foreign_await final : private foreign_wait {
public:
    template <class A>
    foreign_await(promise_base& me, A&& a)
        : foreign_wait(
              me, +[](foreign_wait& self) noexcept { return static_cast<foreign_await&>(self).discard(); }),
          inner_(get_awaiter(std::forward<A>(a))) {}

    [[nodiscard]] bool await_ready() {
        if (frame().region().is_cancelled_relaxed()) {
            return false;
        }
        began_ = true;
        if (!inner_.await_ready()) {
            return false;
        }
        ready_ = true;
        has_gone_on_ = may_go_on(frame());
        return has_gone_on_ && !is_job_cancelled();
    }

    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) -> typename transfer_to<Mode>::result {
        using result = decltype(inner_.await_suspend(std::coroutine_handle<bridge_promise>()));
        if (!began_ || ready_) [[unlikely]] {
            return end_cancelled(self);
        }
        const std::coroutine_handle<bridge_promise> resumes_us = make_bridge(*this);
        begin();
        try {
            if constexpr (std::is_void_v<result>) {
                inner_.await_suspend(resumes_us);
                return transfer_to<Mode>::none();
            } else if constexpr (std::is_same_v<result, bool>) {
                if (inner_.await_suspend(resumes_us)) {
                    return transfer_to<Mode>::none();
                }
            } else {
                return transfer_to<Mode>::frame(inner_.await_suspend(resumes_us));
            }
        } catch (...) {
            drop_bridge();
            end();
            throw;
        }
        drop_bridge();
        end();
        ready_ = true;
        return end_cancelled(self);
    }

    awaiter_result<Awaiter> await_resume() {
        rethrow_if_failed();
        return inner_.await_resume();
    }

private:
    template <class Promise>
    auto end_cancelled(std::coroutine_handle<Promise> self) -> typename transfer_to<Mode>::result {
        if (ready_ && !(is_job_cancelled() && discard())) {
            if (!has_gone_on_ && give_way(frame())) {
                return transfer_to<Mode>::none();
            }
            return transfer_to<Mode>::bounced(self);
        }
        unwind_frame(frame());
        return transfer_to<Mode>::none();
    }
    // If the job is cancelled, its result is destroyed. If only a region around the await is cancelled, as by a deadline, the
    // body receives the result.
    [[nodiscard]] bool is_job_cancelled() const noexcept { return foreign_wait::is_job_cancelled(frame()); }
    // Takes and destroys the result of a completed await. Returns false if the await failed, which the body has to see.
    bool discard() noexcept {
        try {
            static_cast<void>(inner_.await_resume());
            return true;
        } catch (...) {
            keep_failure(std::current_exception());
            return false;
        }
    }

    Awaiter inner_;
    bool began_ = false;
    bool ready_ = false;
    bool has_gone_on_ = true;
};

}  // namespace roost::inline ROOST_ABI::detail
