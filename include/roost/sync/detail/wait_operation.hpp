#pragma once

// The awaiter that most primitives share, and its blocking twin. A Source is a pointer to the primitive, or a small object
// that acts like one; it offers
//
//   bool try_pass() noexcept                 no need to wait
//   bool enqueue(waiter&) noexcept           false: no need to wait after all; true: queued
//   bool cancel(waiter&, claim) noexcept     claims a queued waiter; false: somebody else has
//   void pass_on(waiter&) noexcept           a delivered waiter that will never run: what it was given goes to the next
//   wait_target describe() const noexcept
//   result(claim)                            optional: what co_await gives; idle: it did not wait
//
// The frame of a coroutine suspended in such an awaiter may be destroyed by its owner, on its executor or while its wake is
// known not to be posted; then a queued waiter is unlinked and a delivered one passes its wake on.

#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/thread_waiter.hpp>

namespace roost::inline ROOST_ABI {

#if defined(__clang__) && __clang_major__ < 19
#define ROOST_AWAIT_SUSPEND [[gnu::noinline]]  // older clang writes to the frame after await_suspend gave it away
#else
#define ROOST_AWAIT_SUSPEND
#endif

namespace detail {

[[noreturn]] void destroyed_while_woken(wait_target target) noexcept;
// Ends the program when the primitive's last moment has come with somebody still queued.
[[noreturn]] void destroyed_with_waiters(wait_target target, std::uint32_t waiters) noexcept;
// In checked builds: an awaiter was destroyed that nothing awaited. Reported as misuse; `call` is what the program wrote.
[[gnu::cold]] void never_awaited(wait_target target, const char* call) noexcept;

template <class Source>
class [[nodiscard("it waits only when it is awaited: write co_await")]] wait_operation {
public:
    // A source is a word or two. NOLINTNEXTLINE(performance-unnecessary-value-param)
    explicit wait_operation(Source source) noexcept : source_(source) {}
    wait_operation(wait_operation&&) noexcept = default;
    ~wait_operation() {
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

    // False: no need to wait, the target will not be run.
    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        return source_->enqueue(node_);
    }
    // From any thread, while suspended. True: nobody will resume the coroutine, the caller decides about it. False: a wake
    // has claimed it, and it will be resumed.
    bool try_cancel(claim as = claim::cancelled) noexcept { return source_->cancel(node_, as); }

    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return source_->describe(); }

private:
    void abandon() noexcept {
        if (node_.state() == claim::delivered) {
            source_->pass_on(node_);
        } else if (node_.state() == claim::waiting && !source_->cancel(node_, claim::cancelled)) {
            destroyed_while_woken(source_->describe());
        }
    }

    Source source_;
    waiter node_;
};

// Spins briefly, then queues up and blocks. False: the deadline passed.
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
