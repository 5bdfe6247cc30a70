#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

// Records of guards for reports: one table of slots per thread.
//
// 1. Why it is not simpler. Recording a guard's site must cost a few plain stores: no lock, no allocation per guard, no shared
//    counter. So a thread takes slots only from its own table. But guards move between threads: any thread may free a slot, even
//    while a report reads it. Freeing is one store. The owning thread finds the slot again when it searches for a free one,
//    starting with the slot it used last. A report copies a slot and checks that it was not taken again. Reading a clock would
//    double the cost, so a slot may start without a time. The first to notice the guard stores one: a report, the stop of a
//    root, or every 256th guard of the thread.
//
// 2. Slot      word     0: free. Else bits 0-47 the guard's node, bits 48-63 the guard's number among its thread's guards, so
//                       a reader detects that the slot was taken again
//              site
//              since    when it was taken; 0: not recorded; negative: when it was first noticed
//    A guard with the same site and time as the last one in its slot only writes the word.
//
// 4.           free --take, by the table's thread--> taken --drop, by any thread--> free
//
// 5. Fields    site, since: written by the table's thread while the slot is free; since: by any thread while it is 0;
//              the rest of a table: its thread
//
// 6. I1        a copy that read the same word at its start and end is of one guard, or is free (a reader that sleeps while a
//              thread makes exactly a multiple of 65536 guards may mix two guards of one node)
//
// 7. Ordering table
// id  operation           order    pairs  carries                                              fails in
// P1  take: load word     acquire  P6     the dropper's reads are done                         guard_slots_model: reuse
// P3  take: site, since   release  P8     the slot was seen free: the reader's word is old     guard_slots_model: copy
// P4  take: word          release  P7     site and since                                       guard_slots_model: copy
// P5  own fields: load    relaxed  -      the thread wrote them itself; since may be a notice  (floor)
//                                         that comes at the same time, and then is its time
// P6  drop: word          release  P1     the dropper's reads come before the next writes      guard_slots_model: reuse
// P7  copy: word          acquire  P4     as P4                                                guard_slots_model: copy
// P8  copy: the rest      acquire  P3     as P3; and orders P9 after it                        guard_slots_model: copy
// P9  copy: word again    relaxed  -      after P8                                             guard_slots_model: copy
// P10  chunks: load next   acquire  P11    the chunk's slots                                    guard_slots_model: growth
// P11  chunks: store next  release  P10    the chunk's slots                                    guard_slots_model: growth
// P12  notice: CAS since   relaxed  -      a number; never instead of one that is there         (floor)
// P13  word                relaxed  -      nothing: compared with the word of a copy (P7)       (floor)

namespace roost::inline ROOST_ABI::detail {

static_assert(sizeof(site) == sizeof(std::uint64_t));

class guard_slot {
public:
    // Returns true if the address fits in 48 bits. The system returns longer addresses only on request; guards of such a node
    // have an unknown site.
    [[nodiscard]] static bool fits(const void* owner) noexcept {
        return (reinterpret_cast<std::uintptr_t>(owner) & ~owner_mask) == 0;
    }
    [[nodiscard]] bool is_free() const noexcept { return word_.load(mo::acquire) == 0; }  // P1

    // Called by the table's thread. Requires is_free() and fits(owner). `number` differs from the slot's previous guard.
    void take(const void* owner, roost::site where, std::int64_t since, std::uint32_t number) noexcept {
        const auto place = std::bit_cast<std::uint64_t>(where);
        if (site_.load(mo::relaxed) != place) {  // P5
            site_.store(place, mo::release);  // P3
        }
        if (since_.load(mo::relaxed) != since) {  // P5
            since_.store(since, mo::release);  // P3
        }
        word_.store((number * one_guard) | reinterpret_cast<std::uintptr_t>(owner), mo::release);  // P4
    }
    // Called by the thread that destroys the guard.
    void drop() noexcept { word_.store(0, mo::release); }  // P6
    [[nodiscard]] roost::site site() const noexcept { return std::bit_cast<roost::site>(site_.load(mo::relaxed)); }  // P5
    [[nodiscard]] std::int64_t since() const noexcept { return since_.load(mo::relaxed); }  // P5
    // Stores the time if there is none. Called by any thread, also while the slot is free: the next guard overwrites it.
    void notice(std::int64_t now) noexcept {
        std::int64_t none = 0;
        if (since_.load(mo::relaxed) == none) {  // P5
            static_cast<void>(since_.compare_exchange_strong(none, -now, mo::relaxed, mo::relaxed));  // P12
        }
    }

    // Identifies the guard: node and number (I1). 0 if the slot is free. Carries nothing: the copy that it is compared with has it.
    [[nodiscard]] std::uint64_t word() const noexcept { return word_.load(mo::relaxed); }  // P13

    struct copy {
        const void* owner = nullptr;  // null: free, or the slot changed during the copy
        std::uint64_t word = 0;
        roost::site where;
        std::int64_t since = 0;
    };
    [[nodiscard]] copy read() const noexcept {
        const std::uint64_t word = word_.load(mo::acquire);  // P7
        copy c;
        c.word = word;
        c.where = std::bit_cast<roost::site>(site_.load(mo::acquire));  // P8
        c.since = since_.load(mo::acquire);  // P8
        if (word_.load(mo::relaxed) == word) {  // P9
            c.owner = reinterpret_cast<const void*>(word & owner_mask);
        }
        return c;
    }

private:
    static constexpr std::uint64_t one_guard = std::uint64_t(1) << 48;
    static constexpr std::uint64_t owner_mask = one_guard - 1;

    atomic<std::uint64_t> word_{0};
    atomic<std::uint64_t> site_{0};  // a site; zero: unknown
    atomic<std::int64_t> since_{0};
};

#if defined(ROOST_SEAM_MODEL)
inline constexpr std::size_t first_slots = 2;
#else
inline constexpr std::size_t first_slots = 16;
#endif

class guard_table {
public:
    guard_table() noexcept = default;
    guard_table(const guard_table&) = delete;
    guard_table& operator=(const guard_table&) = delete;
    ~guard_table();

    // Called by the table's thread. Returns null if there is no memory for more slots.
    [[nodiscard]] guard_slot* free_slot() noexcept { return last_->is_free() ? last_ : find_free(); }
    // Called by the table's thread. Returns the slot that it found last, free or not.
    [[nodiscard]] guard_slot* last_used() const noexcept { return last_; }
    // Calls fn for each slot. Called by any thread, also while the table is in use.
    template <class Fn>
    void for_each(Fn fn) {
        for (guard_slot& s : first_) {
            fn(s);
        }
        for (chunk* c = chunks_.load(mo::acquire); c != nullptr; c = c->next.load(mo::acquire)) {  // P10
            for (std::size_t i = 0; i < c->size; ++i) {
                fn(c->slots()[i]);
            }
        }
    }
    // Called by the table's thread. Notices the next few slots, round robin.
    void notice_some(std::int64_t now) noexcept;
    [[nodiscard]] std::size_t capacity() const noexcept { return total_; }

    // For the registry of tables, under its lock.
    guard_table* next_table = nullptr;
    guard_table* next_orphan = nullptr;

private:
    struct chunk {
        explicit chunk(std::size_t n) noexcept : size(n) {}
        std::size_t size;
        atomic<chunk*> next{nullptr};
        [[nodiscard]] guard_slot* slots() noexcept { return reinterpret_cast<guard_slot*>(this + 1); }
    };
    [[nodiscard]] guard_slot* find_free() noexcept;
    [[nodiscard]] bool grow() noexcept;
    void next_chunk() noexcept;

    guard_slot* last_ = &first_[0];
    // Position of the round-robin search: `at_` in the slots of `in_` (null: first_).
    chunk* in_ = nullptr;
    std::size_t at_ = 0;
    std::size_t found_ = 0;  // free slots found in this round
    chunk* noticed_in_ = nullptr;  // as in_ and at_
    std::size_t noticed_at_ = 0;
    std::size_t total_ = first_slots;
    chunk* newest_ = nullptr;
    atomic<chunk*> chunks_{nullptr};
    guard_slot first_[first_slots];
};

}  // namespace roost::inline ROOST_ABI::detail
