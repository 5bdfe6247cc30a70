#pragma once

// The one thing in Roost that waits: a node that lives in whoever waits (an awaiter in a suspended coroutine, the stack of
// a blocked thread), so that waiting allocates nothing.
//
// A wait is claimed exactly once, under the lock of the list the node is in:
//
//   idle --queued--> waiting --wake--> delivered
//                            --cancel--> cancelled
//                            --deadline--> expired
//
// Whoever claims it owns the node from then on: a waker delivers it (posts the coroutine to its executor, unparks the
// thread), a canceller decides what happens to the coroutine. Everybody else finds it claimed and leaves it alone.
//
// A claimed waiter needs its primitive no more, but for a wake that it may have to pass on: whoever is cancelled after it was
// woken does not touch it. A cancel, and a deadline of a thread, that come at the same time as the wake do; so does a select
// that takes its other clauses out. A primitive must not be destroyed while one of these is on its way.

#include <roost/base/atomic.hpp>
#include <roost/exec/resume.hpp>

#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI {

enum class claim : std::uint8_t {
    idle,  // not queued: not started, or finished
    waiting,  // in a list
    delivered,  // woken by a wake meant for one; if it never resumes, the wake is passed on
    released,  // woken by a wake for everybody: nothing to pass on
    cancelled,
    expired,
};

// What a report says about somebody who waits: `mutex "accounts"`.
// The kind is a literal; a plain name's length is counted when somebody reads it.
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

namespace detail {
class choice;
class wait_list;
class wake_chain;
}  // namespace detail

// Who runs when a waiter is delivered. Without an executor it runs on the thread that delivers, outside every lock, one
// after the other: a coroutine resumed this way that wakes others does not recurse into them.
class resume_target {
public:
    constexpr resume_target(void* coroutine, work::run_function function, executor_ref executor) noexcept
        : frame_(coroutine), run_(function), where_(executor) {}
    // One of several waits of which only one is to have an effect, see sync/detail/choice.hpp.
    constexpr resume_target(detail::choice& of, work::run_function function, executor_ref executor) noexcept
        : frame_(&of), run_(function), where_(executor), is_alternative_(true) {}
    template <class Promise>
    [[nodiscard]] static resume_target of(std::coroutine_handle<Promise> handle) noexcept;

    [[nodiscard]] void* frame() const noexcept { return frame_; }
    [[nodiscard]] work::run_function run() const noexcept { return run_; }
    [[nodiscard]] executor_ref where() const noexcept { return where_; }
    [[nodiscard]] bool is_alternative() const noexcept { return is_alternative_; }
    [[nodiscard]] bool is_resumed() const noexcept { return is_resumed_; }
    // The same on another executor.
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
    constexpr waiter() noexcept : work(unset) {}
    // Awaiters can be moved until they are awaited.
    waiter(waiter&& other) noexcept : work(unset) {
        ROOST_ASSERT(other.state() == claim::idle, "a waiter cannot move once it waits");
        other.set_awaited();
    }

    // In checked builds: whether the awaiter it belongs to was ever awaited or moved from.
    [[nodiscard]] bool is_unused() const noexcept { return ROOST_CHECKED != 0 && kind_ == kind::unused; }
    void set_awaited() noexcept {
        if constexpr (ROOST_CHECKED != 0) {
            kind_ = kind::coroutine;
        }
    }

    void bind(const resume_target& target) noexcept {
        set_run(target.run());
        frame_ = target.frame();
        where_ = target.where();
        kind_ = target.is_alternative() ? kind::alternative : target.is_resumed() ? kind::resumed : kind::coroutine;
    }

#if ROOST_CHECKED
    constexpr ~waiter() {
        if (kind_ == kind::posted) {
            destroyed_before_it_ran();
        }
    }
#endif
    // For an executor that ends without running what it took: the coroutine may be destroyed now.
    void forgotten() noexcept {
        if (kind_ == kind::posted) {
            kind_ = kind::resumed;
        }
    }

    // Resumes whoever waits. Only for the one that claimed it; the waiter may be gone when this returns.
    void deliver(std::string_view what) noexcept { deliver_to(where_, what); }
    void deliver(const char* what) noexcept { deliver_to(where_, what); }

    // By the owner, once it runs again: how the wait ended; the waiter is idle afterwards.
    claim finish() noexcept {
        const claim how = state();
        if (how != claim::idle) {
            claim_.store(claim::idle, mo::relaxed);  // W3
        }
        return how;
    }
    // Certain only for the owner while nobody else can claim it, and under the lock of the list.
    [[nodiscard]] claim state() const noexcept { return claim_.load(mo::relaxed); }  // W3
    // Seen by a canceller without the lock: true is final, and then the primitive may be gone. Whoever has not queued up yet
    // may do so at any moment, so only the lock can tell about that.
    [[nodiscard]] bool is_claimed() const noexcept {
        const claim seen = claim_.load(mo::acquire);  // W4
        return seen != claim::idle && seen != claim::waiting;
    }
    // Queued, or claimed and not yet finished.
    [[nodiscard]] bool is_started() const noexcept { return state() != claim::idle; }

    [[nodiscard]] void* frame() const noexcept { return frame_; }
    [[nodiscard]] executor_ref where() const noexcept { return where_; }
    [[nodiscard]] bool is_thread() const noexcept { return kind_ == kind::thread; }
    [[nodiscard]] bool is_alternative() const noexcept { return kind_ == kind::alternative; }
    // Of an alternative: what has to be won before it is served.
    [[nodiscard]] detail::choice& of_choice() const noexcept { return *static_cast<detail::choice*>(frame_); }

protected:
    struct thread_tag {};
    constexpr waiter(thread_tag, work::run_function unpark) noexcept
        : work(unpark), frame_(nullptr), where_(), kind_(kind::thread) {}

private:
    friend class detail::wait_list;
    friend class detail::wake_chain;

    // From now on until it runs, the executor has it: its coroutine must not be destroyed.
    void now_posted() noexcept {
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

    // Only the claim says whether the rest means anything: a wait that is over before it begins writes no more than that.
    // What bind() writes and what queueing writes take turns in memory: side by side, compilers write two at once through
    // a vector register, and the reads that follow at once have to wait for it.
    plain<waiter*> next_{unset};
    void* frame_;
    plain<waiter*> prev_{unset};
    executor_ref where_{unset};
    plain<std::uint32_t> generation_{unset};
    atomic<claim> claim_{claim::idle};
    // resumed: by the function of resume_target::of(), which says so when it runs; posted: and an executor has it now; unused: never
    // waited. The last two are only told apart in checked builds.
    enum class kind : std::uint8_t { coroutine, resumed, posted, thread, alternative, unused };
    kind kind_ = ROOST_CHECKED != 0 ? kind::unused : kind::coroutine;

public:
    // For a thread at the head of a list of permits, under that list's lock: its token is on the way, and how often
    // somebody else has been served since.
    bool is_notified = false;
    std::uint8_t overtaken = 0;
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

}  // namespace roost::inline ROOST_ABI
