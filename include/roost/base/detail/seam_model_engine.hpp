#pragma once

// The interface between the model back end of the seam and the explorer. Declared here because `base` may not include `testing`;
// the explorer implements it and sets `active_engine` while an execution runs. Outside an execution the pointer is null
// and the seam's objects behave like single-threaded values.

#include <roost/base/clock.hpp>
#include <roost/base/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace roost::inline ROOST_ABI {
namespace detail {

enum class model_op : std::uint8_t {
    load,
    store,
    exchange,
    compare_exchange,
    fetch_add,
    fetch_sub,
    fetch_or,
    fetch_and,
    plain_read,
    plain_write,
    lock,
    try_lock,
    unlock,
    wait,
    await,
    wake,
    condition_wait,
    notify,
    join,
    finish,
    yield,
    heavy_barrier,
    clock,
    allocate,
    deallocate,
    choose,
};

enum class model_kind : std::uint8_t { word, cell, lock, condition };

// Header of every shimmed object. `id` is valid only in the execution numbered `epoch`.
struct model_object {
    mutable std::uint32_t id = 0;
    mutable std::uint32_t epoch = 0;
};

// An atomic: its newest value, and the value it was built with (an object that outlives one execution, such as a global,
// starts every execution from that).
struct model_word : model_object {
    explicit constexpr model_word(std::uint64_t v) noexcept : value(v), initial(v) {}
    mutable std::uint64_t value;
    std::uint64_t initial;
};

using model_site = std::source_location;

class model_engine {
public:
    virtual void construct(const model_object& object, model_kind kind) = 0;
    virtual void destroy(const model_object& object) = 0;

    virtual std::uint64_t load(const model_word& word, std::memory_order order, model_site at) = 0;
    virtual void store(model_word& word, std::uint64_t value, std::memory_order order, model_site at) = 0;
    // A read-modify-write is begin (a scheduling point, returns the newest value), then exactly one of commit and fail.
    virtual std::uint64_t rmw_begin(model_word& word, model_op op, std::uint64_t expected, model_site at) = 0;
    virtual void rmw_commit(model_word& word, std::uint64_t value, std::memory_order order) = 0;
    virtual void rmw_fail(model_word& word, std::memory_order order) = 0;
    [[nodiscard]] virtual bool fails_spuriously() = 0;

    virtual void plain_read(const model_object& cell, model_site at) = 0;
    virtual void plain_write(const model_object& cell, model_site at) = 0;

    virtual void lock(const model_object& lock, model_site at) = 0;
    virtual bool try_lock(const model_object& lock, model_site at) = 0;
    virtual void unlock(const model_object& lock, model_site at) = 0;

    virtual bool wait(model_word& word, std::uint32_t expected, time_point deadline, model_site at) = 0;
    // A spin until the word's newest value differs from `expected`: the thread cannot run before.
    virtual void await(model_word& word, std::uint32_t expected, model_site at) = 0;
    virtual void wake(const void* address, int count, model_site at) = 0;
    virtual bool condition_wait(const model_object& condition, const model_object& lock, time_point deadline,
                                model_site at) = 0;
    virtual void condition_notify(const model_object& condition, model_site at) = 0;

    virtual std::uint32_t spawn(void (*run)(void*), void* argument, model_site at) = 0;
    virtual void join(std::uint32_t thread, model_site at) = 0;
    virtual std::uint32_t thread_index() = 0;
    // Returns the calling thread's slot for `key`. Calls `destroy` with it when the thread ends.
    virtual void*& thread_slot(const void* key, void (*destroy)(void*)) = 0;

    virtual time_point now(model_site at) = 0;
    virtual std::uint64_t random() = 0;
    virtual void* allocate(std::size_t size, std::size_t alignment, model_site at) = 0;
    virtual void deallocate(void* memory, std::size_t size, model_site at) = 0;
    virtual void heavy_barrier(model_site at) = 0;
    virtual void yield(model_site at) = 0;

    virtual std::uint32_t choose(std::uint32_t alternatives, model_site at) = 0;
    [[noreturn]] virtual void fail(const char* text, model_site at) = 0;

protected:
    ~model_engine() = default;
};

// Set by the explorer while a body runs. One operating-system thread explores at a time.
extern model_engine* active_engine;

// The mutant of the code under test that runs (tools/mutate); 0 is the original code.
extern std::uint32_t active_mutant;

// Returns seconds of the real clock: limits how long a search takes.
[[nodiscard]] double real_seconds() noexcept;

[[noreturn]] void model_only_inside(const char* what);

}  // namespace detail
}  // namespace roost::inline ROOST_ABI
