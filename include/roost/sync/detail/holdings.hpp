#pragma once

// Which job owns which lock, permit or resource now: the table of owner tracking, observe::set_owner_tracking(). Off by default.
// While it is off, a lock costs one relaxed load, and so does an unlock.
//
// A holding is the record of one guard, permit or pooled handle. It is made after the lock was taken and erased before the lock
// is given back, so a recorded lock is held. It names the job if a job's own await took the lock. It is *sure* while the handle
// has not moved: then the job that took the lock still owns it. The record has a reference to the job, so no other job gets its
// address.
//
// Records are found by the address of the primitive, which is never followed. A reader looks, and then tests that its waiter is
// still unclaimed. If so, it has looked at the primitive in which the waiter is queued: a primitive is destroyed only without
// queued waiters.
//
// Switching off empties the table. A record that comes late finds the switch off, under the lock of its stripe.
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

// What the table needs from a job. The layer `task` sets these functions.
struct holder_functions {
    void (*retain)(void* job) noexcept;
    void (*release)(void* job) noexcept;
    std::string_view (*name)(const void* job) noexcept;
    site (*made_at)(const void* job) noexcept;
};

// The job that takes a lock on this thread.
struct taker {
    void* job = nullptr;  // null: unknown
    const holder_functions* functions = nullptr;
    site at;  // the line of its await
};

// The record of one guard, permit or pooled handle.
struct holding {
    const void* of = nullptr;  // the primitive
    const void* handle = nullptr;  // the guard, permit or slot
    std::uint32_t permits = 0;
    std::uint32_t total = 0;  // all permits of the primitive, at least
    bool is_sure = false;
    taker by;
    std::int64_t stamp = 0;  // unique; about the time, in nanoseconds
};

// What a suspended operation waits for. Another thread fills it in while the operation cannot leave the wait.
struct wait_subject {
    const void* of = nullptr;  // address of the primitive; do not follow it
    std::uint32_t need = 0;  // permits that it waits for; 0: it does not wait for permits
    std::uint32_t total = 0;  // all permits of the primitive, if the wait knows them
    bool is_pending = false;  // true: not woken, so the primitive exists
    // Writes the owners; for primitives that the wait keeps alive. Returns the length.
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
    // Returns true while owners are tracked. Thread-safe.
    [[nodiscard]] static bool is_on() noexcept {
        if constexpr (is_possible) {
            return on.load(mo::relaxed);  // G1
        } else {
            return false;
        }
    }
    // Switches owner tracking on or off. Returns true if it was on before. Thread-safe.
    static bool track(bool on) noexcept;

    // Returns a number that no other call returned, about the time in nanoseconds. Thread-safe.
    [[nodiscard]] static std::int64_t stamp() noexcept;

    using total_function = std::uint32_t (*)(const void* of) noexcept;
    // Called after n permits were taken. Calls `total` under a lock.
    [[gnu::cold]] static void took(const void* of, const void* handle, std::uint32_t n, total_function total) noexcept;
    // Called before the permits are given back, or when no handle has them any more.
    [[gnu::cold]] static void gave(const void* of, const void* handle) noexcept;
    // Called when the handle has moved. From now on another job may own it.
    [[gnu::cold]] static void moved(const void* of, const void* from, const void* to) noexcept;
    // Called before permits are added to the primitive.
    static void raise_total(const void* of, std::uint32_t total) noexcept;

    // Calls look(context, holding) for each holding of the primitive, under a lock. Requires that look() only copies, and
    // retains a job that is used later. Thread-safe.
    using look_function = void (*)(void* context, const holding& one) noexcept;
    static void visit(const void* of, void* context, look_function look) noexcept;
    // Writes the oldest holding, with the line of the await that took it: "held 3 s by job 'transfer' (bank.cpp:15)". Returns
    // the length; 0 if no holding is known. Thread-safe.
    [[nodiscard]] static std::size_t describe(const void* of, char* text, std::size_t size) noexcept;

    // Returns the job that takes locks on this thread.
    [[nodiscard]] static taker& taking() noexcept;

private:
    static atomic<bool> on;
};

// While it exists, holdings::taking() of this thread returns that job.
class taking_for {
public:
    explicit taking_for(const taker& by) noexcept : before_(holdings::taking()) { holdings::taking() = by; }
    taking_for(const taking_for&) = delete;
    taking_for& operator=(const taking_for&) = delete;
    ~taking_for() { holdings::taking() = before_; }

private:
    taker before_;
};

// Appends text to a buffer of fixed size. Text that does not fit is left out.
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
