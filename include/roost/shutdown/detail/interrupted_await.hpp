#pragma once

#include <roost/base/detail/result.hpp>
#include <roost/shutdown/concepts.hpp>
#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/shutdown/detail/wait_slot.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/tree/detail/callback_member.hpp>

#include <optional>

// An await that ends when its node is stopped.
//
//   stop is visible            --> terminal; the inner await never starts
//   registers for stop, checks again, starts the inner await
//       ready or woken first   --> its value, even if stop comes too
//       stop claims it first   --> terminal; the inner wait is cancelled, the coroutine posted to its executor
//
// The inner wait's try_cancel() decides the claim. wait_slot ensures that it is called only while the coroutine is suspended in
// the inner wait. The callback's remove() ensures that no thread is inside when this object is destroyed.

namespace roost::inline ROOST_ABI {
template <class A>
class finish;
}

namespace roost::inline ROOST_ABI::detail {

// Stores an awaitable and its awaiter. If Aw is a reference, the awaitable is stored elsewhere.
template <class Aw>
class kept_awaitable {
    using awaiter = awaiter_of<Aw&&>;
    static constexpr bool makes_one = !std::is_reference_v<awaiter>;

public:
    explicit kept_awaitable(Aw&& a) : awaitable_(std::forward<Aw>(a)) {}
    // Requires that other has not been awaited.
    kept_awaitable(kept_awaitable&& other) noexcept(std::is_nothrow_constructible_v<Aw, Aw&&>)
        : awaitable_(std::forward<Aw>(other.awaitable_)) {}

    [[nodiscard]] std::remove_reference_t<awaiter>& get() {
        if constexpr (makes_one) {
            if (!made_) {
                made_.emplace(*this);
            }
            return made_->value;
        } else {
            return awaitable_;
        }
    }

private:
    struct holder {
        explicit holder(kept_awaitable& k) : value(get_awaiter(std::forward<Aw>(k.awaitable_))) {}
        awaiter value;
    };
    struct nothing {};

    Aw awaitable_;
    [[no_unique_address]] std::conditional_t<makes_one, std::optional<holder>, nothing> made_;
};

// Result policy: an optional of the value, empty on stop.
template <class T>
struct as_optional {
    using type = std::optional<kept_t<T>>;
    [[nodiscard]] static type terminal() { return std::nullopt; }
    template <class Get>
    [[nodiscard]] static type value(Get get) {
        return made_of<type>::result(get, std::in_place);
    }
};

// Result policy: the value itself, value-initialised on stop: empty optional, zero bytes, empty span.
template <class T>
struct as_itself {
    using type = T;
    [[nodiscard]] static type terminal() { return T{}; }
    template <class Get>
    [[nodiscard]] static type value(Get get) {
        return get();
    }
};

template <class Aw, class How, bool HasExecutor>
class [[nodiscard]] interrupted_await final : private callback_member {
public:
    interrupted_await(Aw&& inner, node_ref<shutdown_node> watched, executor_ref where)
        : callback_member(level::stop, &stop_came),
          inner_(std::forward<Aw>(inner)),
          node_(std::move(watched)),
          where_(where) {}
    // Requires that other has not been awaited.
    interrupted_await(interrupted_await&& other) noexcept(std::is_nothrow_move_constructible_v<kept_awaitable<Aw>>)
        : callback_member(level::stop, &stop_came),
          inner_(std::move(other.inner_)),
          node_(std::move(other.node_)),
          where_(other.where_) {}
    ~interrupted_await() { remove(); }

    [[nodiscard]] bool await_ready() {
        terminal_ = node_->is_terminal();
        return terminal_ || inner_.get().await_ready();
    }

    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) {
        static_assert(
            HasExecutor || has_executor<Promise>,
            "this coroutine type has no executor, so stop has nowhere to resume it: write interrupt(x).on(executor)");
        const resume_target target = resume_target::of(handle);
        resume_.bind(target.on(where_ ? where_ : target.executor()));
        add(*node_);
        if (node_->is_terminal()) {  // stop has notified the slot already; a node that was gone before notifies no slot
            terminal_ = !end_with_part();
            return false;
        }
        suspended_ = true;
        wait_slot::suspension here(slot_, this, &withdraw);
        if (!suspend_in(inner_.get(), handle)) {
            suspended_ = false;
            return false;
        }
        if (here.commit()) {  // stop came during the start, and the wait was cancelled
            terminal_ = true;
            return false;
        }
        return true;  // since the commit, another thread may have resumed the coroutine
    }

    typename How::type await_resume() {
        if (suspended_ && !terminal_) {
            slot_.disarm();
        }
        remove();
        if constexpr (requires { inner_.get().was_cancelled_late(); }) {
            terminal_ = terminal_ || inner_.get().was_cancelled_late();
        }
        if (terminal_) {
            return How::terminal();
        }
        return How::value([this]() -> decltype(auto) { return inner_.get().await_resume(); });
    }

    // Returns true if the operation has done a part of its work, with which it completes now.
    bool end_with_part() noexcept {
        if constexpr (requires { inner_.get().end_with_part(); }) {
            return inner_.get().end_with_part();
        } else {
            return false;
        }
    }
    // Called by tasks, which cancel their own waits.
    bool try_cancel() noexcept { return inner_.get().try_cancel(); }
    [[nodiscard]] wait_target waits_on() noexcept {
        if constexpr (requires { inner_.get().waits_on(); }) {
            return inner_.get().waits_on();
        } else {
            return {"interrupted await", node_->name()};
        }
    }

private:
    static bool withdraw(void* self) noexcept { return static_cast<interrupted_await*>(self)->inner_.get().try_cancel(); }
    static void stop_came(callback_member& m) noexcept {
        auto& self = static_cast<interrupted_await&>(m);
        if (self.slot_.cancel()) {
            self.terminal_ = true;
            self.resume_.deliver(self.node_->name());
        }
    }

    kept_awaitable<Aw> inner_;
    node_ref<shutdown_node> node_;
    executor_ref where_;
    wait_slot slot_;
    waiter resume_;
    bool terminal_ = false;
    bool suspended_ = false;
};

template <class T>
inline constexpr bool is_finish = false;
template <class A>
inline constexpr bool is_finish<finish<A>> = true;

// The await of finish(x): checks for stop before x starts, then awaits x to its end.
template <class Aw, class How>
class [[nodiscard]] finished_await final {
public:
    finished_await(Aw&& inner, node_ref<shutdown_node> watched)
        : inner_(std::forward<Aw>(inner)), node_(std::move(watched)) {}

    [[nodiscard]] bool await_ready() {
        terminal_ = node_->is_terminal();
        return terminal_ || inner_.get().await_ready();
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND auto await_suspend(std::coroutine_handle<Promise> handle) {
        return inner_.get().await_suspend(handle);
    }
    typename How::type await_resume() {
        if (terminal_) {
            return How::terminal();
        }
        return How::value([this]() -> decltype(auto) { return inner_.get().await_resume(); });
    }

private:
    kept_awaitable<Aw> inner_;
    node_ref<shutdown_node> node_;
    bool terminal_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
