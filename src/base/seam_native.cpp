#include <roost/base/atomic.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <bit>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <new>
#include <utility>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define ROOST_HOLDS_SIGNALS_BACK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROOST_HOLDS_SIGNALS_BACK 1
#endif
#endif

namespace roost::inline ROOST_ABI::seam {

namespace {

long futex(const void* word, int operation, std::uint32_t value, const timespec* limit, std::uint32_t mask) noexcept {
    return syscall(SYS_futex, word, operation, value, limit, nullptr, mask);
}

timespec to_timespec(time_point t) noexcept {
    const auto since = t.time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
    timespec spec{};
    spec.tv_sec = static_cast<time_t>(whole.count());
    spec.tv_nsec = static_cast<long>((since - whole).count());
    return spec;
}

time_point read_clock(clockid_t which) noexcept {
    timespec spec{};
    clock_gettime(which, &spec);
    return time_point(std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec));
}

// Returns false if the deadline passed.
bool sleep_on(atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline) noexcept {
    const timespec limit = to_timespec(deadline);
    const long rc = futex(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                          deadline == no_deadline ? nullptr : &limit, FUTEX_BITSET_MATCH_ANY);
    return !(rc == -1 && errno == ETIMEDOUT);
}

}  // namespace

// --- blocking on a word ------------------------------------------------------------------------------------------------

void wait_on(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    static_cast<void>(wait_on_until(word, expected, no_deadline));
}

bool wait_on_until(atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline) noexcept {
    if (deadline.time_since_epoch().count() <= 0) {
        return false;
    }
#if defined(ROOST_HOLDS_SIGNALS_BACK)
    // ThreadSanitizer delays a signal until its thread makes a call that it intercepts, and a futex is none. So a sleeping
    // thread makes one now and then.
    constexpr std::chrono::milliseconds moment(100);
    for (;;) {
        const time_point look = now() + moment;
        const bool woken = sleep_on(word, expected, look < deadline ? look : deadline);
        ::usleep(0);
        if (woken || look >= deadline) {
            return woken;
        }
    }
#else
    return sleep_on(word, expected, deadline);
#endif
}

void wait_briefly(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    constexpr timespec moment{0, 50'000};
    // Relative: FUTEX_WAIT, unlike FUTEX_WAIT_BITSET, measures from now.
    futex(&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, expected, &moment, 0);
}

void wake_on(const atomic<std::uint32_t>* word, int count) noexcept {
    futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, static_cast<std::uint32_t>(count), nullptr, 0);
}

bool os_condvar::wait_until(os_mutex& held, time_point deadline) {
    std::unique_lock<std::mutex> lock(held.impl_, std::adopt_lock);
    bool in_time = true;
    if (deadline == no_deadline) {
        impl_.wait(lock);
    } else {
        // libstdc++'s steady_clock is the same CLOCK_MONOTONIC that now() reads.
        const std::chrono::steady_clock::time_point limit(deadline.time_since_epoch());
        in_time = impl_.wait_until(lock, limit) == std::cv_status::no_timeout;
    }
    lock.release();
    return in_time;
}

void small_mutex::lock_slow() noexcept {
    // The holder is inside a handful of instructions, so a short spin usually sees it leave.
    for (int spin = 0; spin < 64; ++spin) {
        std::uint32_t seen = word_.load(mo::relaxed);
        if (seen == 0 && word_.compare_exchange_strong(seen, 1, mo::acquire, mo::relaxed)) {
            return;
        }
        if (seen == 2) {
            break;
        }
        spin_hint();
    }
    while (word_.exchange(2, mo::acquire) != 0) {
        wait_briefly(word_, 2);
    }
}

void small_mutex::unlock_slow() noexcept {
    word_.exchange(0, mo::release);
    wake_on(&word_, 1);
}

// --- threads -----------------------------------------------------------------------------------------------------------

void yield_thread() noexcept {
    sched_yield();
    // A real-time thread yields only to threads of its priority: the thread it waits for may never get this processor. So it
    // sleeps now and then.
    constexpr unsigned yields_per_look = 16;
    constexpr timespec moment{0, 50'000};
    thread_local unsigned yields = 0;
    if (++yields % yields_per_look == 0) {
        const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
        if (policy == SCHED_FIFO || policy == SCHED_RR) {
            nanosleep(&moment, nullptr);
        }
    }
}

bool thread::join_until(time_point deadline) noexcept {
    const pthread_t id = handle_.native_handle();
    int rc = pthread_tryjoin_np(id, nullptr);
    if (rc == EBUSY && deadline == no_deadline) {
        rc = pthread_join(id, nullptr);
    }
    while (rc == EBUSY && now() < deadline) {
#if defined(ROOST_HOLDS_SIGNALS_BACK)
        ::usleep(1000);  // ThreadSanitizer intercepts no join with a limit
        rc = pthread_tryjoin_np(id, nullptr);
#else
        const timespec limit = to_timespec(deadline);
        rc = pthread_clockjoin_np(id, nullptr, CLOCK_MONOTONIC, &limit);
        rc = rc == ETIMEDOUT ? EBUSY : rc;
#endif
    }
    if (rc != 0) {
        return false;
    }
    new (&handle_) std::thread();  // std::thread does not know that it was joined: its destructor would end the program
    return true;
}

unsigned hardware_threads() noexcept {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        const int count = CPU_COUNT(&allowed);
        if (count > 0) {
            return static_cast<unsigned>(count);
        }
    }
    const unsigned reported = std::thread::hardware_concurrency();
    return reported == 0 ? 1 : reported;
}

// --- time and chance -----------------------------------------------------------------------------------------------------

time_point now() noexcept { return read_clock(CLOCK_MONOTONIC); }
time_point coarse_now() noexcept { return read_clock(CLOCK_MONOTONIC_COARSE); }
#if !defined(__x86_64__) && !defined(__aarch64__)
std::uint64_t ticks() noexcept { return static_cast<std::uint64_t>(now().time_since_epoch().count()); }
#endif

namespace {

std::uint64_t& random_state() noexcept {
    thread_local std::uint64_t state = 0;
    return state;
}

}  // namespace

std::uint64_t swap_random_state(std::uint64_t state) noexcept { return std::exchange(random_state(), state); }

std::uint64_t random_u64() noexcept {
    // splitmix64, seeded from the clock and the address of the thread's own state.
    std::uint64_t& state = random_state();
    if (state == 0) {
        state = static_cast<std::uint64_t>(now().time_since_epoch().count()) ^ std::bit_cast<std::uintptr_t>(&state);
    }
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

}  // namespace roost::inline ROOST_ABI::seam

#endif  // !ROOST_SEAM_MODEL
