#pragma once

// Which job took what is held now: the table behind observe::set_owner_tracking(). Off by default. Then a lock costs one relaxed
// load, and so does an unlock.
//
// A holding is the record of one guard, permit or pooled handle. It is made after the lock was taken and erased before the lock
// is given back, so a recorded holding is held. It says who took the lock if that was a job's own await, and it is *sure* as long
// as the handle has not moved: the job that took it still holds it. The reference to the job keeps its address from being used
// again.
//
// Records are found by the address of the primitive, which is never followed. A reader that sees its waiter unclaimed after the
// look has looked at the primitive that the waiter is queued in: a primitive is destroyed only without queued waiters.
//
// Switching it off empties the table. A record that is made late finds the switch off, under the lock of its stripe.
//
// id  operation            order    pairs  carries                                               fails in
// G1  is_on: load          relaxed  -      nothing: checked again under the stripe's lock        (floor)
// G2  switch: store, load  seq_cst  -      before the stripes are emptied                        (no model: locks order it)
// G3  stamp: CAS           seq_cst  -      nothing: only that no two stamps are equal            (no model: one word)

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// What the table needs of a job; the layer of jobs has them.
struct holder_functions {
    void (*retain)(void* job) noexcept;
    void (*release)(void* job) noexcept;
    std::string_view (*name)(const void* job) noexcept;
    site (*made_at)(const void* job) noexcept;
};

// The job that is taking something on this thread, and the line of its await. Empty: not known.
struct taker {
    void* job = nullptr;
    const holder_functions* functions = nullptr;
    site at;
};

struct holding {
    const void* of = nullptr;  // the primitive
    const void* handle = nullptr;  // the guard, permit or slot
    std::uint32_t permits = 0;
    std::uint32_t total = 0;  // all permits of the primitive, at least
    bool is_sure = false;
    taker by;
    std::int64_t stamp = 0;  // no two are equal; about the time, in nanoseconds
};

// What a suspended operation waits for, as seen from another thread while it cannot leave the wait.
struct wait_subject {
    const void* of = nullptr;  // address of the primitive, not to be followed
    std::uint32_t need = 0;  // permits of it; 0: not that kind of wait
    std::uint32_t total = 0;  // all permits, if the wait itself knows them
    bool is_pending = false;  // not woken: the primitive exists
    // Writes who holds it; for primitives that the wait keeps alive. Returns the length.
    std::size_t (*owners)(const void* of, char* text, std::size_t size) noexcept = nullptr;
};

// True for operations whose result is a guard, a permit or a pooled handle.
template <class Operation>
inline constexpr bool is_taking = false;
template <class Operation>
    requires requires { Operation::takes_permits; }
inline constexpr bool is_taking<Operation> = Operation::takes_permits;

class holdings {
public:
#if defined(ROOST_SEAM_MODEL)
    static constexpr bool is_possible = false;  // one scheduling point less in every model
#else
    static constexpr bool is_possible = true;
#endif
    [[nodiscard]] static bool is_on() noexcept {
        if constexpr (is_possible) {
            return on.load(mo::relaxed);  // G1
        } else {
            return false;
        }
    }
    // Returns true if it was on before.
    static bool track(bool on) noexcept;

    // Returns a number that no other call returned, about the time in nanoseconds.
    [[nodiscard]] static std::int64_t stamp() noexcept;

    using total_function = std::uint32_t (*)(const void* of) noexcept;
    // After n permits were taken. `total` is called under a lock.
    [[gnu::cold]] static void took(const void* of, const void* handle, std::uint32_t n, total_function total) noexcept;
    // Before they are given back, or when no handle owns them any more.
    [[gnu::cold]] static void gave(const void* of, const void* handle) noexcept;
    // The handle has moved. From now on the job that took it may not be the one that holds it.
    [[gnu::cold]] static void moved(const void* of, const void* from, const void* to) noexcept;
    // Before permits are added to the primitive.
    static void raise_total(const void* of, std::uint32_t total) noexcept;

    // Calls look(context, holding) for each holding of the primitive, under a lock: look() only copies. A job that is to be
    // used later is retained there.
    using look_function = void (*)(void* context, const holding& one) noexcept;
    static void visit(const void* of, void* context, look_function look) noexcept;
    // Writes "held 3 s by job 'transfer' (bank.cpp:42)". Returns the length, 0 if no holding is known.
    [[nodiscard]] static std::size_t describe(const void* of, char* text, std::size_t size) noexcept;

    // Who takes what is taken on this thread.
    [[nodiscard]] static taker& taking() noexcept;

private:
    static atomic<bool> on;
};

// While it exists, what this thread takes is taken by that job.
class taking_for {
public:
    explicit taking_for(const taker& by) noexcept : before_(holdings::taking()) { holdings::taking() = by; }
    taking_for(const taking_for&) = delete;
    taking_for& operator=(const taking_for&) = delete;
    ~taking_for() { holdings::taking() = before_; }

private:
    taker before_;
};

// Appends text to a buffer of fixed size; what does not fit is left out.
class bounded_text {
public:
    bounded_text(char* text, std::size_t size) noexcept : text_(text), size_(size) {}
    bounded_text& operator<<(std::string_view more) noexcept;
    bounded_text& operator<<(std::uint64_t number) noexcept;
    bounded_text& operator<<(site where) noexcept;
    bounded_text& operator<<(duration d) noexcept;
    [[nodiscard]] std::size_t length() const noexcept { return length_; }

private:
    char* text_;
    std::size_t size_;
    std::size_t length_ = 0;
};

}  // namespace roost::inline ROOST_ABI::detail
