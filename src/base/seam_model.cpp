#include <roost/base/atomic.hpp>

#if defined(ROOST_SEAM_MODEL)

#include <roost/base/assert.hpp>

#include <ctime>
#include <new>
#include <string>

// The model back end outside an execution: single-threaded, so an operation is just its effect, and waiting ends the program.

namespace roost::inline ROOST_ABI::detail {

model_engine* active_engine = nullptr;
std::uint32_t active_mutant = 0;

double real_seconds() noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void model_only_inside(const char* what) {
    panic(std::string(what) + " in a model build works only inside roost::testing::explore()");
}

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI::seam {

using detail::active_engine;
using detail::model_site;

void wait_on(atomic<std::uint32_t>& word, std::uint32_t expected, model_site at) noexcept {
    if (active_engine == nullptr) {
        detail::model_only_inside("waiting");
    }
    active_engine->wait(word.model(), expected, no_deadline, at);
}

bool wait_on_until(atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline, model_site at) noexcept {
    if (active_engine == nullptr) {
        detail::model_only_inside("waiting");
    }
    return active_engine->wait(word.model(), expected, deadline, at);
}

void wait_briefly(atomic<std::uint32_t>& word, std::uint32_t expected, model_site at) noexcept {
    if (active_engine == nullptr) {
        detail::model_only_inside("waiting");
    }
    active_engine->await(word.model(), expected, at);
}

void wake_on(const atomic<std::uint32_t>* word, int count, model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->wake(word, count, at);
    }
}

void small_mutex::lock(model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->lock(object_, at);
    } else if (held_outside_) {
        detail::model_only_inside("a contended lock");
    } else {
        held_outside_ = true;
    }
}

bool small_mutex::try_lock(model_site at) noexcept {
    if (active_engine != nullptr) {
        return active_engine->try_lock(object_, at);
    }
    return !std::exchange(held_outside_, true);
}

void small_mutex::unlock(model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->unlock(object_, at);
    } else {
        held_outside_ = false;
    }
}

void os_condvar::wait(os_mutex& held, model_site at) { wait_until(held, no_deadline, at); }

bool os_condvar::wait_until(os_mutex& held, time_point deadline, model_site at) {
    if (active_engine == nullptr) {
        detail::model_only_inside("waiting");
    }
    return active_engine->condition_wait(object_, held.object_, deadline, at);
}

void os_condvar::notify_one(model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->condition_notify(object_, at);
    }
}

std::uint32_t thread::start(void (*run)(void*), void* argument, model_site at) {
    if (active_engine == nullptr) {
        detail::model_only_inside("a thread");
    }
    return active_engine->spawn(run, argument, at);
}

void thread::join(model_site at) {
    if (active_engine == nullptr || id_ == 0) {
        detail::model_only_inside("joining a started thread");
    }
    active_engine->join(id_, at);
    id_ = 0;
}

void thread::end_if_joinable() noexcept {
    if (id_ != 0 && active_engine != nullptr) {
        active_engine->fail("a thread was destroyed without being joined", model_site::current());
    }
}

std::uint32_t thread_index() noexcept { return active_engine == nullptr ? 0 : active_engine->thread_index(); }

void spin_hint(model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->yield(at);
    }
}
void yield_thread(model_site at) noexcept { spin_hint(at); }

time_point now(model_site at) noexcept {
    return active_engine == nullptr ? time_point(std::chrono::hours(1)) : active_engine->now(at);
}
time_point coarse_now(model_site at) noexcept { return now(at); }

std::uint64_t random_u64() noexcept {
    if (active_engine != nullptr) {
        return active_engine->random();
    }
    static std::uint64_t state = 0x9e3779b97f4a7c15U;
    state ^= state << 13U;
    state ^= state >> 7U;
    return state ^= state << 17U;
}

void* allocate(std::size_t size, std::size_t alignment, model_site at) {
    return active_engine == nullptr ? ::operator new(size, std::align_val_t(alignment))
                                    : active_engine->allocate(size, alignment, at);
}
void deallocate(void* memory, std::size_t size, std::size_t alignment, model_site at) noexcept {
    if (active_engine == nullptr) {
        ::operator delete(memory, size, std::align_val_t(alignment));
    } else {
        active_engine->deallocate(memory, size, at);
    }
}
void* allocate_frame(std::size_t size, model_site at) { return allocate(size, alignof(std::max_align_t), at); }
void deallocate_frame(void* memory, std::size_t size, model_site at) noexcept {
    deallocate(memory, size, alignof(std::max_align_t), at);
}

void heavy_barrier(model_site at) noexcept {
    if (active_engine != nullptr) {
        active_engine->heavy_barrier(at);
    }
}

}  // namespace roost::inline ROOST_ABI::seam

#endif  // ROOST_SEAM_MODEL
