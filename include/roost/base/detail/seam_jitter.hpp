#pragma once

// The jitter back end of the seam: the native one, with a random delay around every operation on an atomic. Stress tests
// built on it reach interleavings that are rare on an idle machine.

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <atomic>

namespace roost::inline ROOST_ABI::detail {

// Usually does nothing; sometimes yields to another thread, rarely sleeps for some microseconds.
void jitter() noexcept;

// Delays before and after the operation in whose scope it lives.
class jittered {
public:
    jittered() noexcept { jitter(); }
    jittered(const jittered&) = delete;
    jittered& operator=(const jittered&) = delete;
    ~jittered() { jitter(); }
};

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI::seam {

template <class T>
class atomic {
public:
    constexpr atomic() noexcept : value_(T{}) {}
    constexpr explicit atomic(T initial) noexcept : value_(initial) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    static_assert(std::atomic<T>::is_always_lock_free, "state words must fit what the processor handles without a lock");

    [[nodiscard]] T load(std::memory_order order) const noexcept {
        const detail::jittered around;
        return value_.load(order);
    }
    void store(T desired, std::memory_order order) noexcept {
        const detail::jittered around;
        value_.store(desired, order);
    }
    T exchange(T desired, std::memory_order order) noexcept {
        const detail::jittered around;
        return value_.exchange(desired, order);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        const detail::jittered around;
        return value_.compare_exchange_weak(expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        const detail::jittered around;
        return value_.compare_exchange_strong(expected, desired, success, failure);
    }
    T fetch_add(T operand, std::memory_order order) noexcept {
        const detail::jittered around;
        return value_.fetch_add(operand, order);
    }
    T fetch_sub(T operand, std::memory_order order) noexcept {
        const detail::jittered around;
        return value_.fetch_sub(operand, order);
    }
    T fetch_or(T operand, std::memory_order order) noexcept {
        const detail::jittered around;
        return value_.fetch_or(operand, order);
    }
    T fetch_and(T operand, std::memory_order order) noexcept {
        const detail::jittered around;
        return value_.fetch_and(operand, order);
    }

private:
    std::atomic<T> value_;
};

template <class T>
class plain {
public:
    constexpr plain() noexcept : value_{} {}
    constexpr explicit plain(T initial) noexcept : value_(initial) {}
    constexpr explicit plain(unset_t) noexcept {}
    plain(const plain&) = delete;
    plain& operator=(const plain&) = delete;

    [[nodiscard]] T get() const noexcept {
        detail::jitter();
        return value_;
    }
    void set(T value) noexcept {
        value_ = value;
        detail::jitter();
    }

private:
    T value_;
};

}  // namespace roost::inline ROOST_ABI::seam

#include <roost/base/detail/seam_native.hpp>  // IWYU pragma: export
