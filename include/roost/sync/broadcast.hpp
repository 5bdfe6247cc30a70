#pragma once

// Delivers every value to every subscriber, from its subscription on. Sending never waits. A subscriber that falls behind by
// more than the capacity misses the oldest values. missed() of its next item returns how many.
//
//   broadcast<tick> ticks(64, "ticks");
//   auto mine = ticks.subscribe();
//   auto next = co_await mine.receive();       next.missed() values were overwritten before this one; empty: closed
//
// Each receive copies the value under the lock. The copy must not use this object and should be cheap; share large values.
//
// Resumes: on the coroutine's executor; without one, inside send() or close() on the calling thread, outside every lock.
// Cancelled: the receive has consumed nothing. Destroy: when there is no subscriber.
// Everything happens under the list's lock: no orderings of its own.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/answer_kinds.hpp>
#include <roost/sync/detail/ring.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>
#include <roost/sync/wait_status.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI {

// A value, and the number of values before it that this subscriber missed.
template <class T>
class [[nodiscard]] broadcast_item : public detail::answer<T, detail::broadcast_kind> {
    using base = detail::answer<T, detail::broadcast_kind>;

public:
    explicit broadcast_item(wait_status how) noexcept : base(how) {}
    broadcast_item(const T& value, std::uint64_t missed) : base(std::in_place, value), missed_(missed) {}

    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

private:
    std::uint64_t missed_ = 0;
};

template <class T>
class broadcast {
public:
    class subscriber;

    explicit broadcast(std::size_t capacity, literal name = "") : values_(capacity), name_(name.text()) {
        if (capacity == 0) {
            detail::panic("broadcast", name.text(), site(), "its capacity is 0; pass at least 1");
        }
    }
    ~broadcast() {
        if (!waiters_.is_quiet() || subscribers_ != 0) {
            detail::panic("broadcast", name_, site(),
                          "it was destroyed while it had subscribers; destroy its subscribers first");
        }
    }

    // Returns false, and drops the value, if the broadcast is closed.
    bool send(T value) noexcept;
    // Subscribers receive the values still kept for them, then wait_status::closed.
    void close() noexcept;
    [[nodiscard]] subscriber subscribe() noexcept { return subscriber(*this); }

    [[nodiscard]] std::size_t capacity() const noexcept { return values_.capacity(); }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    [[nodiscard]] std::uint64_t oldest() const noexcept { return next_ - values_.size(); }
    void unlock_and_wake() noexcept {
        const char* what = name_;
        detail::wake_chain woken = waiters_.take_all();
        waiters_.unlock();
        woken.deliver(what);
    }

    detail::wait_list waiters_;
    detail::ring<T> values_;
    std::uint64_t next_ = 0;  // number of the next value
    std::uint32_t subscribers_ = 0;
    bool is_closed_ = false;
    const char* name_;
};

// One subscriber's position in the stream. Not thread-safe.
template <class T>
class [[nodiscard]] broadcast<T>::subscriber {
public:
    using operation = detail::wait_operation<subscriber*>;

    explicit subscriber(broadcast& of) noexcept : of_(&of) {
        of_->waiters_.lock();
        seen_ = of_->next_;
        ++of_->subscribers_;
        of_->waiters_.unlock();
    }
    subscriber(const subscriber&) = delete;
    subscriber& operator=(const subscriber&) = delete;
    ~subscriber() {
        of_->waiters_.lock();
        --of_->subscribers_;
        of_->waiters_.unlock();
    }

    // co_await returns a broadcast_item<T>.
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation receive() noexcept {
        return operation(this);
    }
    [[nodiscard]] broadcast_item<T> try_receive();
    [[nodiscard]] broadcast_item<T> receive_blocking(time_limit deadline = no_deadline) {
        return detail::wait_in_thread(this, deadline) ? try_receive() : broadcast_item<T>(wait_status::expired);
    }
    [[nodiscard]] const broadcast& source() const noexcept { return *of_; }

private:
    static constexpr const char* wait_call = "receive()";
    friend detail::wait_operation<subscriber*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    [[nodiscard]] bool has_news() const noexcept { return seen_ != of_->next_ || of_->is_closed_; }
    [[nodiscard]] bool try_pass() noexcept {
        of_->waiters_.lock();
        const bool passes = has_news();
        of_->waiters_.unlock();
        return passes;
    }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept {
        of_->waiters_.lock();
        bool must_wait = true;
        if (has_news()) {  // recheck
            must_wait = false;
        } else {
            of_->waiters_.push_back(w);
        }
        of_->waiters_.unlock();
        return must_wait;
    }
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept {
        of_->waiters_.lock();
        const bool claimed = of_->waiters_.take_if_queued(w, as);
        of_->waiters_.unlock();
        return claimed;
    }
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] broadcast_item<T> result(ext::claim) { return try_receive(); }
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"broadcast", of_->name_}; }

    broadcast* of_;
    std::uint64_t seen_ = 0;
};

template <class T>
bool broadcast<T>::send(T value) noexcept {
    waiters_.lock();
    if (is_closed_) {
        waiters_.unlock();
        return false;
    }
    std::optional<T> dropped;  // destroyed outside the lock
    if (values_.is_full()) {
        dropped.emplace(values_.pop_front());
    }
    values_.push_back(std::move(value));
    ++next_;
    unlock_and_wake();
    return true;
}

template <class T>
void broadcast<T>::close() noexcept {
    waiters_.lock();
    is_closed_ = true;
    unlock_and_wake();
}

template <class T>
broadcast_item<T> broadcast<T>::subscriber::try_receive() {
    struct unlocker {
        explicit unlocker(broadcast& o) noexcept : of(o) { of.waiters_.lock(); }
        ~unlocker() { of.waiters_.unlock(); }
        broadcast& of;
    } const held(*of_);
    if (seen_ == of_->next_) {
        return broadcast_item<T>(of_->is_closed_ ? wait_status::closed : wait_status::would_wait);
    }
    const std::uint64_t from = seen_ < of_->oldest() ? of_->oldest() : seen_;
    broadcast_item<T> item(of_->values_.at(static_cast<std::size_t>(from - of_->oldest())), from - seen_);
    seen_ = from + 1;  // only now: a copy that throws has consumed nothing
    return item;
}

}  // namespace roost::inline ROOST_ABI
