#pragma once

// The native back end of the seam: the one that ships. base/atomic.hpp has the contract of each name.

#include <roost/base/detail/frame_memory.hpp>
#include <roost/base/detail/native_thread.hpp>

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::seam {

#if !defined(ROOST_SEAM_JITTER)  // which brings its own

template <class T>
class atomic {
public:
    constexpr atomic() noexcept : value_(T{}) {}
    constexpr explicit atomic(T initial) noexcept : value_(initial) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    static_assert(std::atomic<T>::is_always_lock_free, "state words must fit what the processor handles without a lock");

    [[nodiscard]] T load(std::memory_order order) const noexcept { return value_.load(order); }
    void store(T desired, std::memory_order order) noexcept { value_.store(desired, order); }
    T exchange(T desired, std::memory_order order) noexcept { return value_.exchange(desired, order); }

    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return value_.compare_exchange_weak(expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
        return value_.compare_exchange_strong(expected, desired, success, failure);
    }

    T fetch_add(T operand, std::memory_order order) noexcept { return value_.fetch_add(operand, order); }
    T fetch_sub(T operand, std::memory_order order) noexcept { return value_.fetch_sub(operand, order); }
    T fetch_or(T operand, std::memory_order order) noexcept { return value_.fetch_or(operand, order); }
    T fetch_and(T operand, std::memory_order order) noexcept { return value_.fetch_and(operand, order); }

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

    [[nodiscard]] T get() const noexcept { return value_; }
    void set(T value) noexcept { value_ = value; }

private:
    T value_;
};

#endif

// --- blocking on a word ------------------------------------------------------------------------------------------------

void wait_on(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
bool wait_on_until(atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline) noexcept;
void wait_briefly(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
void wake_on(const atomic<std::uint32_t>* word, int count) noexcept;

// --- lock for short slow paths -----------------------------------------------------------------------------------------

// states   0 free   1 held   2 held, a thread may be blocked
//
// Unlocking is a plain store if no blocked thread was seen, which saves an exchange on every use. A thread that blocks between
// that load and the store may have its mark overwritten, so a blocked thread checks again every 50 microseconds. The store is
// the last touch: the next holder may free the memory.
class small_mutex {
public:
    constexpr small_mutex() noexcept = default;
    small_mutex(const small_mutex&) = delete;
    small_mutex& operator=(const small_mutex&) = delete;

    void lock() noexcept {
        std::uint32_t expected = 0;
        if (!word_.compare_exchange_strong(expected, 1, mo::acquire, mo::relaxed)) [[unlikely]] {
            lock_slow();
        }
    }
    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, 1, mo::acquire, mo::relaxed);
    }
    void unlock() noexcept {
        if (word_.load(mo::relaxed) == 1) [[likely]] {
            word_.store(0, mo::release);
            return;
        }
        unlock_slow();
    }

private:
    void lock_slow() noexcept;
    void unlock_slow() noexcept;

    atomic<std::uint32_t> word_{0};
};

// --- time, chance, memory ----------------------------------------------------------------------------------------------

[[nodiscard]] time_point now() noexcept;
[[nodiscard]] time_point coarse_now() noexcept;
[[nodiscard]] std::uint64_t random_u64() noexcept;
std::uint64_t swap_random_state(std::uint64_t state) noexcept;

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t));
void deallocate(void* memory, std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept;

// --- asymmetric barrier: light on the hot side, heavy on the rare side -----------------------------------------------

}  // namespace roost::inline ROOST_ABI::seam

namespace roost::inline ROOST_ABI::detail {
enum class barrier_offer : std::uint8_t { unknown, given, never, lost };
extern constinit std::atomic<barrier_offer> kernel_barrier;
[[nodiscard]] bool ask_for_barrier() noexcept;
}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI::seam {

[[nodiscard]] inline bool has_heavy_barrier() noexcept {
    const detail::barrier_offer known = detail::kernel_barrier.load(std::memory_order_relaxed);
    return known == detail::barrier_offer::given || (known == detail::barrier_offer::unknown && detail::ask_for_barrier());
}
inline void light_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
void heavy_barrier() noexcept;

}  // namespace roost::inline ROOST_ABI::seam
