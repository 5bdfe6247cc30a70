#pragma once

// The awaiters of a channel's send and receive.

#include <roost/sync/detail/channel_core.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class [[nodiscard]] send_operation {
public:
    send_operation(channel_core<T>& to, T&& value) noexcept : to_(&to), own_(std::move(value)) {}
    send_operation(channel_core<T>& to, T* source) noexcept : to_(&to), source_(source) {}
    send_operation(send_operation&&) noexcept = default;
    ~send_operation() {
        if (node_.state() == claim::waiting && !try_cancel()) {
            destroyed_while_woken(waits_on());
        }
        if (node_.is_unused()) {
            never_awaited(waits_on(), "send()");
        }
    }

    [[nodiscard]] bool await_ready() {
        set_awaited();
        status_ = to_->send_now(value());
        return status_ != wait_status::would_wait;
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    [[nodiscard]] sent<T> await_resume() noexcept {
        if (node_.is_started()) {
            status_ = channel_core<T>::status_of(node_.finish());
        }
        return own_ ? sent<T>(status_, std::move(*own_)) : sent<T>(status_);
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        node_.value = &value();
        const wait_status how = to_->send_or_enqueue(node_);
        if (how == wait_status::would_wait) {
            return true;  // queued: a receiver may have resumed it already, so this object may be gone
        }
        status_ = how;
        return false;
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return to_->cancel_send(node_, as); }
    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return to_->describe(); }
    // Returns the result of a send that ended early, with the value if this operation owns it.
    [[nodiscard]] sent<T> interrupted(claim how) noexcept {
        set_awaited();
        const wait_status status = channel_core<T>::status_of(how);
        return own_ ? sent<T>(status, std::move(*own_)) : sent<T>(status);
    }

private:
    [[nodiscard]] T& value() noexcept { return own_ ? *own_ : *source_; }

    channel_core<T>* to_;
    sending_node<T> node_;
    T* source_ = nullptr;
    std::optional<T> own_;
    wait_status status_ = wait_status::would_wait;
};

template <class T>
class [[nodiscard]] receive_operation {
public:
    explicit receive_operation(channel_core<T>& from) noexcept : from_(&from) {}
    receive_operation(receive_operation&& other) noexcept : from_(other.from_), node_(std::move(other.node_)) {}
    ~receive_operation() {
        if (node_.is_started()) {
            abandon();
        } else if (node_.is_unused()) {
            never_awaited(waits_on(), "receive()");
        }
        node_.give_slot_back();
    }

    [[nodiscard]] bool await_ready() noexcept {
        set_awaited();
        status_ = from_->receive_now(slot_);
        return status_ != wait_status::would_wait;
    }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        return start(resume_target::of(handle));
    }
    // Throws std::bad_alloc if there was no memory to queue the waiter; then nothing was received.
    [[nodiscard]] received<T> await_resume() {
        if (status_ == wait_status::would_wait) {
            finish_wait();
        }
        return received<T>(status_, std::move(slot_));
    }

    [[nodiscard]] bool start(const resume_target& target) noexcept {
        node_.bind(target);
        node_.slot = &slot_;
        try {
            const wait_status how = from_->receive_or_enqueue(node_);
            if (how == wait_status::would_wait) {
                return true;
            }
            status_ = how;
        } catch (const std::bad_alloc&) {
            status_ = wait_status::would_wait;  // and not queued: await_resume throws
        }
        return false;
    }
    bool try_cancel(claim as = claim::cancelled) noexcept { return from_->cancel_receive(node_, as); }
    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept { return from_->describe(); }
    [[nodiscard]] received<T> interrupted(claim how) noexcept {
        node_.give_slot_back();
        return received<T>(channel_core<T>::status_of(how), std::nullopt);
    }

private:
    void finish_wait() {
        if (!node_.is_started()) {
            throw std::bad_alloc();
        }
        status_ = channel_core<T>::status_of(node_.finish());
        node_.give_slot_back();
    }
    void abandon() noexcept {
        if (node_.state() == claim::delivered) {
            from_->hand_on(*slot_);
        } else if (node_.state() == claim::waiting && !try_cancel()) {
            destroyed_while_woken(waits_on());
        }
    }

    channel_core<T>* from_;
    receiving_node<T> node_;
    std::optional<T> slot_;
    wait_status status_ = wait_status::would_wait;
};

}  // namespace roost::inline ROOST_ABI::detail
