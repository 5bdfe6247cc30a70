#pragma once

// The channel itself: a ring of values, a list of senders and a list of receivers, under one lock. It is the lock of the
// receivers' list; the senders' list uses it as well.
//
// I1       receivers wait  =>  nothing is buffered and no sender waits
// I2       senders wait    =>  limit values or more are buffered (more only when some were handed back)
// I3       closed          =>  no waiter is queued
// I4       beyond the buffered values, and beyond the limit, a slot is reserved for each coroutine that waits to receive, or
//          has its value and has not run: if it never runs, its value comes back without an allocation

#include <roost/sync/detail/channel_slots.hpp>
#include <roost/sync/detail/ring.hpp>
#include <roost/sync/detail/thread_waiter.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/wait_status.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

inline constexpr std::size_t channel_unbounded = SIZE_MAX;

// A waiter, of a coroutine or of a thread, with the address of the value to send.
template <class T>
class sending_node : public waiter {
public:
    sending_node() noexcept = default;
    sending_node(sending_node&&) noexcept = default;
    T* value = nullptr;

protected:
    sending_node(thread_tag tag, work::run_function unpark, T* v) noexcept : waiter(tag, unpark), value(v) {}
};

// A waiter, of a coroutine or of a thread, with the address that receives the value.
template <class T>
class receiving_node : public waiter {
public:
    receiving_node() noexcept = default;
    receiving_node(receiving_node&&) noexcept = default;
    std::optional<T>* slot = nullptr;
    // Set while a coroutine has a reserved slot (I4): where it is given back.
    channel_slots* lent_by = nullptr;
    void give_slot_back() noexcept {
        if (channel_slots* from = std::exchange(lent_by, nullptr)) {
            from->give_back();
        }
    }

protected:
    receiving_node(thread_tag tag, work::run_function unpark, std::optional<T>* s) noexcept : waiter(tag, unpark), slot(s) {}
};

template <class T>
class channel_core {
public:
    channel_core(std::size_t limit, const char* name)
        : limit_(limit), buffer_(base_of(limit) + 1), slots_(channel_slots::make()), name_(name) {}
    ~channel_core() {
        if (!receivers_.is_quiet() || !senders_.is_empty()) {
            destroyed_with_waiters(describe(), receivers_.size_approx() + senders_.size_approx());
        }
        slots_->retire(lent_);
    }

    // Moves from `value` only if it returns done. Throws std::bad_alloc for an unbounded channel only.
    [[nodiscard]] wait_status send_now(T& value) { return send(value, nullptr); }
    // As above, but queues `w` if it returns would_wait. Then *w.value must stay where it is.
    [[nodiscard]] wait_status send_or_enqueue(sending_node<T>& w) noexcept { return send(*w.value, &w); }
    [[nodiscard]] wait_status receive_now(std::optional<T>& slot) noexcept { return receive(slot, nullptr); }
    // As above, but queues `w` if it returns would_wait. Throws std::bad_alloc if a slot for I4 cannot be allocated.
    [[nodiscard]] wait_status receive_or_enqueue(receiving_node<T>& w) { return receive(*w.slot, &w); }

    [[nodiscard]] wait_status send_in_thread(T& value, time_point deadline);
    [[nodiscard]] wait_status receive_in_thread(std::optional<T>& slot, time_point deadline) noexcept;

    [[nodiscard]] bool cancel_send(waiter& w, claim as) noexcept { return cancel(senders_, w, as); }
    [[nodiscard]] bool cancel_receive(waiter& w, claim as) noexcept { return cancel(receivers_, w, as); }
    // Called with a value whose receiver never ran. Hands it to the next receiver, or puts it at the front of the buffer.
    void hand_on(T& value) noexcept;

    bool close() noexcept;
    [[nodiscard]] bool is_closed() noexcept {
        return locked([&] { return is_closed_; });
    }
    [[nodiscard]] std::size_t size() noexcept {
        return locked([&] { return buffer_.size(); });
    }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
    [[nodiscard]] std::size_t senders_now() const noexcept { return senders_.size_approx(); }
    [[nodiscard]] std::size_t receivers_now() const noexcept { return receivers_.size_approx(); }
    [[nodiscard]] wait_target describe() const noexcept { return {"channel", name_}; }
    [[nodiscard]] const char* name() const noexcept { return name_; }

    // Returns the status of a send or receive that had been queued.
    [[nodiscard]] static wait_status status_of(claim how) noexcept {
        switch (how) {
            case claim::released: return wait_status::closed;
            case claim::expired: return wait_status::expired;
            case claim::cancelled: return wait_status::cancelled;
            default: return wait_status::done;
        }
    }

private:
    template <class Fn>
    auto locked(Fn fn) noexcept {
        receivers_.lock();
        auto result = fn();
        receivers_.unlock();
        return result;
    }
    [[nodiscard]] wait_status send(T& value, sending_node<T>* w);
    [[nodiscard]] wait_status receive(std::optional<T>& slot, receiving_node<T>* w);
    // Returns null and lost if `active` is an alternative whose select was decided elsewhere.
    [[nodiscard]] wait_list::picked give_to_receiver(T& value, waiter* active) noexcept;
    [[nodiscard]] wait_list::picked admit_sender(std::optional<T>* slot, waiter* active) noexcept;
    // True if `active` may go on: an alternative has to win its choice first.
    [[nodiscard]] static bool may_act(waiter* active) noexcept {
        return active == nullptr || !active->is_alternative() || active->of_choice().try_win(active);
    }
    // Returns the number of slots without those of I4.
    [[nodiscard]] static std::size_t base_of(std::size_t limit) noexcept { return limit == channel_unbounded ? 0 : limit; }
    // Called under the lock. True if there are n slots more than those of I4.
    [[nodiscard]] bool has_slots(std::size_t n) noexcept {
        const std::size_t base = limit_ == channel_unbounded || buffer_.size() > limit_ ? buffer_.size() : limit_;
        const std::size_t rest = buffer_.capacity() - base;
        if (rest < lent_ - seen_done_ + n) {
            seen_done_ = slots_->done();
        }
        return rest >= lent_ - seen_done_ + n;
    }
    // Called under the lock when has_slots() is false. Returns the capacity to allocate.
    [[nodiscard]] std::size_t slots_wanted() const noexcept {
        const std::size_t lent = lent_ - seen_done_;
        if (limit_ != channel_unbounded) {
            return limit_ + 2 * (lent + 1);
        }
        const std::size_t taken = buffer_.size() + lent;
        return taken < 8 ? 16 : 2 * taken;
    }
    void lend_slot(receiving_node<T>& w) noexcept {
        w.lent_by = slots_;
        ++lent_;
    }
    void make_room(std::size_t wanted);
    [[nodiscard]] bool cancel(wait_list& from, waiter& w, claim as) noexcept {
        return !w.is_claimed() && locked([&] { return from.take_if_queued(w, as); });
    }
    void unlock_and_deliver(waiter* w) noexcept {
        const char* what = name_;
        receivers_.unlock();
        if (w != nullptr) {
            w->deliver(what);
        }
    }

    wait_list receivers_;
    wait_list senders_;
    std::size_t limit_;
    ring<T> buffer_;
    channel_slots* slots_;
    std::uint64_t lent_ = 0;
    std::uint64_t seen_done_ = 0;
    bool is_closed_ = false;
    const char* name_;
};

}  // namespace roost::inline ROOST_ABI::detail

#include <roost/sync/detail/channel_core.inl>
