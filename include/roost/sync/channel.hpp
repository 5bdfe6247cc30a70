#pragma once

// Passes values from senders to receivers in order, each to exactly one receiver.
//
//   channel<order> orders(16, "orders");       16 slots; 0: a sender waits for its receiver; channel<T>::unbounded
//   auto sent = co_await orders.send(std::move(o));         if (!sent) the value is in sent.take_back()
//   auto next = co_await orders.receive();                  if (!next) it is closed and empty
//
// No value is dropped silently. A send that is closed, stopped, expired or refused by a try_ form returns its value.
// send_from(v) leaves the value in `v` until a receiver takes it. Use it where the whole coroutine may be cancelled. A value
// handed to a receiver that never runs returns to the front of the channel, for the next receiver. Of several such values
// the last one put back is first. After close() receivers take what is buffered, and waiting senders get their values back.
// A send on a closed channel returns wait_status::closed.
//
// Resumes: on the coroutine's executor; without one, on the thread that sends, receives or closes, outside every lock.
// Destroy: when no waiter is queued or being cancelled. Waiters that were served may run afterwards.
// Thread-safe. A send happens-before the receive of its value.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/channel_core.hpp>
#include <roost/sync/detail/channel_operation.hpp>

namespace roost::inline ROOST_ABI {

template <class T>
class channel {
public:
    using value_type = T;
    using send_operation = detail::send_operation<T>;
    using receive_operation = detail::receive_operation<T>;
    static constexpr std::size_t unbounded = detail::channel_unbounded;

    // Throws std::bad_alloc, or std::bad_array_new_length if no memory can hold that many values.
    explicit channel(std::size_t capacity, literal name = "") : core_(capacity, name.text()) {}

    // co_await returns a sent<T>. On an unbounded channel it throws std::bad_alloc if memory runs out; then nothing was sent.
    [[nodiscard("nothing is sent until it is awaited: write co_await")]] send_operation send(T value) {
        return send_operation(core_, std::move(value));
    }
    [[nodiscard("nothing is sent until it is awaited: write co_await")]] send_operation send_from(T& value) {
        return send_operation(core_, &value);
    }
    [[nodiscard]] sent<T> try_send(T value) { return sent<T>(core_.send_now(value), std::move(value)); }
    sent<T> send_blocking(T value, time_limit deadline = no_deadline) {
        const wait_status how = core_.send_in_thread(value, deadline);
        return sent<T>(how, std::move(value));
    }

    // co_await returns a received<T>. The channel reserves a slot for the value of each coroutine that waits here. co_await
    // throws std::bad_alloc, and receives nothing, if more coroutines wait than ever before and memory runs out.
    [[nodiscard("nothing is received until it is awaited: write co_await")]] receive_operation receive() noexcept {
        return receive_operation(core_);
    }
    [[nodiscard]] received<T> try_receive() noexcept {
        std::optional<T> value;
        const wait_status how = core_.receive_now(value);
        return received<T>(how, std::move(value));
    }
    [[nodiscard]] received<T> receive_blocking(time_limit deadline = no_deadline) noexcept {
        std::optional<T> value;
        const wait_status how = core_.receive_in_thread(value, deadline);
        return received<T>(how, std::move(value));
    }

    // Returns true if this call closed it.
    bool close() noexcept { return core_.close(); }
    [[nodiscard]] bool is_closed() noexcept { return core_.is_closed(); }

    [[nodiscard]] std::size_t size() noexcept { return core_.size(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return core_.limit(); }
    [[nodiscard]] std::size_t senders_now() const noexcept { return core_.senders_now(); }
    [[nodiscard]] std::size_t receivers_now() const noexcept { return core_.receivers_now(); }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return senders_now() + receivers_now(); }
    [[nodiscard]] const char* name() const noexcept { return core_.name(); }

private:
    detail::channel_core<T> core_;
};

}  // namespace roost::inline ROOST_ABI
