#pragma once

// The awaiter that most primitives share, and its blocking form. A Source is a pointer to the primitive, or a small object
// that acts like one. It has
//
//   bool try_pass() noexcept                 true: no need to wait
//   bool enqueue(waiter&) noexcept           true: queued; false: no need to wait
//   bool cancel(waiter&, claim) noexcept     claims a queued waiter; false: it was claimed before
//   void pass_on(waiter&) noexcept           hands what a delivered waiter got to the next; that waiter will never run
//   wait_target describe() const noexcept
//   result(claim)                            optional: the result of co_await; idle: it did not wait
//
// The owner of a coroutine suspended in such an awaiter may destroy its frame, on its executor or while its wake is not
// posted. Then a queued waiter is unlinked, and a delivered one passes its wake on.

#include <roost/sync/detail/holdings.hpp>
#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/thread_waiter.hpp>

#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

#if defined(__clang__) && __clang_major__ < 19
#define ROOST_AWAIT_SUSPEND [[gnu::noinline]]  // older clang writes to the frame after await_suspend gave it away
#else
#define ROOST_AWAIT_SUSPEND
#endif

namespace detail {

[[noreturn]] void destroyed_while_woken(wait_target target) noexcept;
// Ends the program: the primitive is destroyed while waiters are queued.
[[noreturn]] void destroyed_with_waiters(wait_target target, std::uint32_t waiters) noexcept;
// Called in checked builds when an awaiter is destroyed unawaited. Reports misuse; `call` is the call that made the awaiter.
[[gnu::cold]] void never_awaited(wait_target target, const char* call) noexcept;

template <class Source>
class [[nodiscard("it waits only when it is awaited: write co_await")]] wait_operation {
public:
    explicit wait_operation(Source source) noexcept : source_(std::move(source)) {}
    wait_operation(wait_operation&&) noexcept = default;
    [[gnu::always_inline]] ~wait_operation() {
        if (node_.is_started()) {
            abandon();
        } else if constexpr (requires { source_->wait_call; }) {
            if (node_.is_unused()) {
                never_awaited(source_->describe(), source_->wait_call);
            }
        } else if constexpr (requires { source_->call(); }) {
            if (node_.is_unused()) {
                never_awaited(source_->describe(), source_->call());
            }
        }
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        return source_->try_pass();
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    auto await_resume() {
        const claim how = node_.finish();
        if constexpr (requires { source_->result(how); }) {
            return source_->result(how);
        }
    }

    // Returns true if it waits. False: no need to wait, and the target is not run.
    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        return source_->enqueue(node_);
    }
    // Requires that the coroutine is suspended here. Returns true if it claimed the wait: nothing resumes the coroutine, and
    // the caller resumes or destroys it. Returns false if a wake has claimed the wait and resumes it. Thread-safe.
    bool try_cancel(claim as = claim::cancelled) noexcept { return source_->cancel(node_, as); }

    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return source_->describe(); }
    // For another thread: what the wait is for.
    [[nodiscard]] wait_subject subject() const noexcept {
        const void* of = nullptr;
        if constexpr (std::is_pointer_v<Source>) {
            of = source_;
        }
        return {.of = of, .is_pending = !node_.is_claimed()};
    }

private:
    [[gnu::noinline]] void abandon() noexcept {
        if (node_.state() == claim::delivered) {
            source_->pass_on(node_);
        } else if (node_.state() == claim::waiting && !source_->cancel(node_, claim::cancelled)) {
            destroyed_while_woken(source_->describe());
        }
    }

    Source source_;
    waiter node_;
};

// Spins briefly, then queues and blocks. Returns false if the deadline passed.
template <class Source>
[[nodiscard]] bool wait_in_thread(Source source, time_point deadline) noexcept {
    for (int spin = 0; spin < park_spins; ++spin) {
        if (source->try_pass()) {
            return true;
        }
        spin_hint();
    }
    thread_waiter self;
    return !source->enqueue(self) || self.block(deadline, [&]() noexcept { return source->cancel(self, claim::expired); });
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
