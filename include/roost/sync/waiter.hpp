#pragma once

// The queue entry of one wait. It lives in the awaiter of a suspended coroutine or on the stack of a blocked thread. So
// waiting allocates nothing.
//
// A wait is claimed exactly once, under the lock of the list the node is in:
//
//   idle --queued--> waiting --wake--> delivered
//                            --cancel--> cancelled
//                            --deadline--> expired
//
// The claimer owns the node from then on. A waker delivers it: posts the coroutine to its executor, or unparks the thread. A
// canceller decides what happens to the coroutine. Later wakers and cancellers see the claim and change nothing.
//
// A claimed waiter no longer needs its primitive, unless it may have to pass a wake on. Cancelling it then touches nothing.
// A cancel or a thread's deadline that races with the wake does touch the primitive. So does a select that removes its other
// clauses. A primitive must not be destroyed during such a call.

// Orders W3 and W4: sync/detail/wait_list.hpp.

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/exec/detail/probes.hpp>
#include <roost/exec/resume.hpp>
#include <roost/sync/detail/forward.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::ext {

enum class claim : std::uint8_t {
    idle,  // not queued: not started, or finished
    waiting,  // in a list
    delivered,  // woken by a wake meant for one; if it never resumes, the wake is passed on
    released,  // woken by a wake for all waiters: nothing to pass on
    cancelled,
    expired,
};

// What a waiter waits for, as reports print it: `mutex 'accounts'`.
// The kind is a literal. The length of a plain name is counted when name() is called.
class wait_target {
public:
    constexpr wait_target() noexcept = default;
    constexpr wait_target(const char* kind, const char* name) noexcept : kind_(kind), name_(name) {}
    constexpr wait_target(const char* kind, std::string_view name) noexcept
        : kind_(kind), name_(name.data()), length_(name.size()) {}
    [[nodiscard]] constexpr std::string_view kind() const noexcept { return kind_; }
    [[nodiscard]] constexpr std::string_view name() const noexcept {
        return length_ == uncounted ? std::string_view(name_) : std::string_view(name_, length_);
    }

private:
    static constexpr std::size_t uncounted = static_cast<std::size_t>(-1);
    const char* kind_ = "";
    const char* name_ = "";
    std::size_t length_ = uncounted;
};

// What runs when a waiter is delivered. Without an executor it runs on the delivering thread, outside every lock. Such
// coroutines run one after the other: one that wakes others does not recurse into them.
class resume_target {
public:
    constexpr resume_target(void* coroutine, work::run_function function, executor_ref executor) noexcept
        : frame_(coroutine), run_(function), where_(executor) {}
    // One of several waits of which only one takes effect, see sync/detail/choice.hpp.
    constexpr resume_target(detail::choice& of, work::run_function function, executor_ref executor) noexcept
        : frame_(&of), run_(function), where_(executor), is_alternative_(true) {}
    // For a member that is written later.
    explicit resume_target(seam::unset_t) noexcept : where_(seam::unset) {}
    template <class Promise>
    [[nodiscard]] static resume_target of(std::coroutine_handle<Promise> handle) noexcept;

    [[nodiscard]] void* frame() const noexcept { return frame_; }
    [[nodiscard]] work::run_function run() const noexcept { return run_; }
    [[nodiscard]] executor_ref executor() const noexcept { return where_; }
    [[nodiscard]] bool is_alternative() const noexcept { return is_alternative_; }
    [[nodiscard]] bool is_resumed() const noexcept { return is_resumed_; }
    // Returns a copy with another executor.
    [[nodiscard]] resume_target on(executor_ref executor) const noexcept {
        resume_target other = *this;
        other.where_ = executor;
        return other;
    }

private:
    void* frame_;
    work::run_function run_;
    executor_ref where_;
    bool is_alternative_ = false;
    bool is_resumed_ = false;
};

class waiter : public work {
public:
    constexpr waiter() noexcept : work(seam::unset) {}
    // Requires that the other has not been awaited yet.
    waiter(waiter&& other) noexcept : work(seam::unset) {
        ROOST_ASSERT(other.state() == claim::idle, "a waiter cannot move once it waits");
        other.set_awaited();
    }

    // Returns true if its awaiter was neither awaited nor moved from. Always false in unchecked builds.
    [[nodiscard]] bool is_unused() const noexcept { return ROOST_CHECKED != 0 && kind_ == kind::unused; }
    void set_awaited() noexcept {
        if constexpr (ROOST_CHECKED != 0) {
            kind_ = kind::coroutine;
        }
    }

    void bind(const resume_target& target) noexcept {
        set_run(target.run());
        frame_ = target.frame();
        where_ = target.executor();
        kind_ = target.is_alternative() ? kind::alternative : target.is_resumed() ? kind::resumed : kind::coroutine;
    }

#if ROOST_CHECKED
    constexpr ~waiter() {
        if (kind_ == kind::posted) {
            destroyed_before_it_ran();
        }
    }
#endif
    // Called when the waiter runs, and by an executor that is destroyed without running it. Afterwards the coroutine may be
    // destroyed.
    void forgotten() noexcept {
        if (kind_ == kind::posted) {
            kind_ = kind::resumed;
        }
    }

    // Resumes the coroutine or unparks the thread. Called by the claimer only. The waiter may be destroyed when this
    // returns.
    void deliver(std::string_view what) noexcept { deliver_to(where_, what); }
    void deliver(const char* what) noexcept { deliver_to(where_, what); }

    // Called by the owner once it runs again. Returns how the wait ended. The waiter is idle afterwards.
    claim finish() noexcept {
        const claim how = state();
        if (how != claim::idle) {
            claim_.store(claim::idle, seam::mo::relaxed);  // W3
        }
        return how;
    }
    // Exact only under the lock of the list, and for the owner while no other thread can claim it.
    [[nodiscard]] claim state() const noexcept { return claim_.load(seam::mo::relaxed); }  // W3
    // For a canceller that does not hold the lock. True is final, and the primitive may be destroyed by then. False is a
    // guess: another thread may queue or claim the waiter at any moment. Check again under the lock.
    [[nodiscard]] bool is_claimed() const noexcept {
        const claim seen = claim_.load(seam::mo::acquire);  // W4
        return seen != claim::idle && seen != claim::waiting;
    }
    // Returns true if it is queued, or claimed and not yet finished.
    [[nodiscard]] bool is_started() const noexcept { return state() != claim::idle; }

    [[nodiscard]] void* frame() const noexcept { return frame_; }
    [[nodiscard]] executor_ref executor() const noexcept { return where_; }
    [[nodiscard]] bool is_thread() const noexcept { return kind_ == kind::thread; }
    [[nodiscard]] bool is_alternative() const noexcept { return kind_ == kind::alternative; }
    // Requires is_alternative(). Returns the choice that has to be won before this waiter is served.
    [[nodiscard]] detail::choice& of_choice() const noexcept { return *static_cast<detail::choice*>(frame_); }

protected:
    struct thread_tag {};
    constexpr waiter(thread_tag, work::run_function unpark) noexcept
        : work(unpark), frame_(nullptr), where_(), kind_(kind::thread) {}

private:
    friend class detail::wait_list;
    friend class detail::wake_chain;

    // From now on the executor owns it: its coroutine must not be destroyed before it runs.
    void now_posted() noexcept {
        ROOST_PROBE1(job_wake, frame_);
        if (detail::flight_recorder::now() != 0 && frame_ != nullptr) [[unlikely]] {
            detail::flight_recorder::write_woken(frame_);
        }
        if (ROOST_CHECKED && kind_ == kind::resumed) {
            kind_ = kind::posted;
        }
    }
    [[noreturn]] static void destroyed_before_it_ran() noexcept;

    template <class What>
    void deliver_to(executor_ref where, What what) noexcept {
        now_posted();
        if (where) {
            post_or_fall_back(where, *this, what);
        } else {
            deliver_here();
        }
    }
    void deliver_here() noexcept;

    // The other fields are unset while the claim is idle: a wait that need not wait writes nothing else.
    // The fields of bind() and those of queueing alternate in memory. Side by side, compilers store two at once through a
    // vector register, and the reads that follow stall on it.
    seam::plain<waiter*> next_{seam::unset};
    void* frame_;
    seam::plain<waiter*> prev_{seam::unset};
    executor_ref where_{seam::unset};
    seam::plain<std::uint32_t> generation_{seam::unset};
    seam::atomic<claim> claim_{claim::idle};
    // resumed: runs the function of resume_target::of(), which clears `posted`. posted: as resumed, and an executor owns it.
    // unused: never awaited. posted and unused occur in checked builds only.
    enum class kind : std::uint8_t { coroutine, resumed, posted, thread, alternative, unused };
    kind kind_ = ROOST_CHECKED != 0 ? kind::unused : kind::coroutine;

public:
    // For a thread at the head of a list of permits; under that list's lock.
    bool is_notified = false;  // its parker has been notified
    std::uint8_t overtaken = 0;  // releases that other threads may have taken before it
};

#if ROOST_SEAM_NATIVE
static_assert(sizeof(waiter) <= 56);
#endif

template <class Promise>
resume_target resume_target::of(std::coroutine_handle<Promise> handle) noexcept {
    constexpr work::run_function run = +[](work& w) noexcept {
        auto& self = static_cast<waiter&>(w);
        self.forgotten();
        resume_function_of<Promise>()(self.frame());
    };
    resume_target made(handle.address(), run, executor_of(handle));
    made.is_resumed_ = true;
    return made;
}

}  // namespace roost::inline ROOST_ABI::ext
