#pragma once

// The current value of something, and a way to wait until it changes. A slow observer sees the latest value, not every one.
//
//   watch<config> settings(load(), "settings");
//   auto mine = settings.observe();
//   co_await mine.changed();  use(mine.get());
//
// changed() completes when there is a version that this observer has not seen. get() marks the current version as seen.
// After close(), changed() returns false only when the last value has been seen. Values are copied and replaced under the
// lock. Copies must not use this object and should be cheap.
//
// Resumes: on the coroutine's executor; without one, inside set() or close() on the calling thread, outside every lock.
// Cancelled: no version is marked as seen. Destroy: when no waiter is queued. Observers must not be used afterwards.
// Everything happens under the list's lock: no orderings of its own.

#include <roost/base/literal.hpp>
#include <roost/base/time_limit.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <cstdint>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
class watch {
public:
    class observer;

    explicit watch(T initial, literal name = "") : value_(std::move(initial)), name_(name.text()) {}
    ~watch() {
        if (!waiters_.is_quiet()) {
            detail::destroyed_with_waiters({"watch", name_}, waiters_.size_approx());
        }
    }

    void set(T value) {
        using std::swap;
        const locked held(*this);
        swap(value_, value);  // the old value is destroyed outside the lock
        held.changed();
    }
    // Changes the value in place. Calls fn(T&) under the lock; fn must not use this object.
    template <class Fn>
    void modify(Fn fn) {
        const locked held(*this);
        fn(value_);
        held.changed();
    }
    // Wakes every waiter. From now on changed() never waits.
    void close() noexcept {
        const locked held(*this);
        is_closed_ = true;
        held.wake();
    }

    [[nodiscard]] T get() const {
        const locked held(*this);
        return value_;
    }
    [[nodiscard]] std::uint64_t version() const noexcept {
        const locked held(*this);
        return version_;
    }
    [[nodiscard]] bool is_closed() const noexcept {
        const locked held(*this);
        return is_closed_;
    }
    [[nodiscard]] observer observe() noexcept { return observer(*this); }
    [[nodiscard]] std::size_t waiters_now() const noexcept { return waiters_.size_approx(); }
    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    // Holds the lock. Delivers the waiters that wake() took after it has released the lock.
    class locked {
    public:
        explicit locked(const watch& w) noexcept : of_(&const_cast<watch&>(w)) { of_->waiters_.lock(); }
        locked(const locked&) = delete;
        locked& operator=(const locked&) = delete;
        ~locked() {
            const char* what = of_->name_;
            of_->waiters_.unlock();
            woken_.deliver(what);
        }
        void changed() const noexcept {
            ++of_->version_;
            wake();
        }
        void wake() const noexcept { woken_ = of_->waiters_.take_all(); }

    private:
        watch* of_;
        mutable detail::wake_chain woken_;
    };

    detail::wait_list waiters_;
    T value_;
    std::uint64_t version_ = 1;
    bool is_closed_ = false;
    const char* name_;
};

// Remembers which version its owner has seen. Not thread-safe.
template <class T>
class watch<T>::observer {
public:
    using operation = detail::wait_operation<observer*>;

    // The current version counts as seen.
    explicit observer(watch& of) noexcept : of_(&of), seen_(of.version()) {}

    // co_await returns true if there is a version not yet seen. Returns false if there is none and the watch is closed.
    [[nodiscard("it waits only when it is awaited: write co_await")]] operation changed() noexcept {
        return operation(this);
    }
    [[nodiscard]] bool has_changed() const noexcept {
        const locked held(*of_);
        return of_->version_ != seen_;
    }
    // Blocks the calling thread instead. Also returns false if the deadline passed.
    bool changed_blocking(time_limit deadline = no_deadline) noexcept {
        return detail::wait_in_thread(this, deadline) && result(ext::claim::idle);
    }
    [[nodiscard]] T get() {
        const locked held(*of_);
        T copy(of_->value_);
        seen_ = of_->version_;
        return copy;
    }

private:
    static constexpr const char* wait_call = "changed()";
    friend detail::wait_operation<observer*>;
    template <class Source>
    friend bool detail::wait_in_thread(Source, time_point) noexcept;

    [[nodiscard]] bool is_new() const noexcept { return of_->version_ != seen_ || of_->is_closed_; }
    [[nodiscard]] bool try_pass() noexcept {
        const locked held(*of_);
        return is_new();
    }
    [[nodiscard]] bool enqueue(ext::waiter& w) noexcept {
        const locked held(*of_);
        if (is_new()) {  // recheck
            return false;
        }
        of_->waiters_.push_back(w);
        return true;
    }
    [[nodiscard]] bool cancel(ext::waiter& w, ext::claim as) noexcept {
        const locked held(*of_);
        return of_->waiters_.take_if_queued(w, as);
    }
    void pass_on(ext::waiter&) noexcept {}
    [[nodiscard]] bool result(ext::claim) noexcept {
        const locked held(*of_);
        return of_->version_ != seen_;
    }
    [[nodiscard]] ext::wait_target describe() const noexcept { return {"watch", of_->name_}; }

    watch* of_;
    std::uint64_t seen_;
};

}  // namespace roost::inline ROOST_ABI
