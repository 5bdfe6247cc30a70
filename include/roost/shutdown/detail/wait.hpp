#pragma once

#include <roost/shutdown/detail/shutdown_node.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <utility>

// Awaiters of shutdown nodes. They have the contract of the sync layer's awaiters: start(), try_cancel(), node(). So
// with_deadline and tasks can cancel them.

namespace roost::inline ROOST_ABI::detail {

// An owner (a pin) of a node, or empty.
class pinned_node {
public:
    constexpr pinned_node() noexcept = default;
    [[nodiscard]] static pinned_node pin(shutdown_node& n) noexcept {
        n.add_pin();
        return pinned_node(&n);
    }
    pinned_node(const pinned_node& other) noexcept : node_(other.node_) {
        if (node_ != nullptr) {
            node_->add_pin();
        }
    }
    pinned_node(pinned_node&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    pinned_node& operator=(pinned_node other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~pinned_node() { reset(); }

    void reset() noexcept {
        if (shutdown_node* held = std::exchange(node_, nullptr)) {
            held->drop_pin();
        }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
    [[nodiscard]] shutdown_node& operator*() const noexcept { return *node_; }
    [[nodiscard]] shutdown_node* operator->() const noexcept { return node_; }
    [[nodiscard]] shutdown_node* get() const noexcept { return node_; }

private:
    explicit pinned_node(shutdown_node* held) noexcept : node_(held) {}
    shutdown_node* node_ = nullptr;
};

// Base of both awaiters. Held is the owner or reference that keeps the node.
template <class Held>
class shutdown_wait {
public:
    shutdown_wait(Held held, wait_for what) noexcept : held_(std::move(held)), waiter_(what) {}
    shutdown_wait(shutdown_wait&&) noexcept = default;
    ~shutdown_wait() {
        if (waiter_.state() == claim::waiting && !held_->cancel_wait(waiter_, claim::cancelled)) {
            destroyed_while_woken(waits_on());
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return !held_ || held_->holds(waiter_.what()); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    void await_resume() noexcept { waiter_.finish(); }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        waiter_.bind(target);
        return held_ && held_->enqueue(waiter_);
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return held_->cancel_wait(waiter_, as); }
    [[nodiscard]] waiter& node() noexcept { return waiter_; }
    [[nodiscard]] wait_target waits_on() const noexcept {
        if (!held_) {
            return {};
        }
        return {waiter_.what() == wait_for::stop ? "stop of shutdown" : "completion of shutdown", held_->name()};
    }

protected:
    Held held_;

private:
    shutdown_waiter waiter_;
};

using stop_operation_base = shutdown_wait<node_ref<shutdown_node>>;

class [[nodiscard]] stop_operation : public stop_operation_base {
public:
    explicit stop_operation(node_ref<shutdown_node> n) noexcept : stop_operation_base(std::move(n), wait_for::stop) {}
};

class [[nodiscard]] shutdown_operation : public shutdown_wait<pinned_node> {
public:
    // owner: reset when the wait ended by completion, so that the shutdown_completion stays resolved.
    shutdown_operation(pinned_node n, wait_for what, pinned_node* owner = nullptr) noexcept
        : shutdown_wait(std::move(n), what), owner_(owner) {}

    void await_resume() noexcept {
        const claim how = node().finish();
        if (how == claim::cancelled || how == claim::expired) {
            return;
        }
        held_.reset();
        if (owner_ != nullptr) {
            owner_->reset();
        }
    }

private:
    pinned_node* owner_;
};

using shutdown_thread_waiter = basic_thread_waiter<parker, shutdown_waiter>;

// Blocks. Returns true if the wait ended, false if the deadline passed first.
[[nodiscard]] bool wait_in_thread_for(shutdown_node& n, wait_for what, time_point deadline) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
