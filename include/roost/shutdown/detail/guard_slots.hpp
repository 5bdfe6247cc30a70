#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

// Where guards say who they are: one table of slots per thread.
//
// 1. Why it is not simpler. Writing down where a guard was made must cost a few plain stores: no lock, no allocation per
//    guard, no shared counter. So a thread takes slots only from its own table; but guards travel, and any thread may give a
//    slot back, at the same time as a report reads it. Giving back is one store; the owning thread finds the slot again when
//    it looks for a free one, beginning with the one it used last. Reports copy a slot and check that it was not taken again
//    meanwhile. Reading a clock would double the cost, so a slot may begin without a time; whoever notices it first (a report,
//    the stop of a root, every 256th guard of its thread) enters one.
//
// 2. Slot      word     0: free. Else bits 0-47 the node of the guard, bits 48-63 the number of the guard among its thread's,
//                       so that a reader notices when the slot is taken again
//              site
//              since    when it was taken; 0: not written down; negative: when it was first noticed
//    A guard like the last one in its slot, made at the same place, only has to write the word.
//
// 4.           free --take, by the table's thread--> taken --drop, by anybody--> free
//
// 5. Fields    site, since: written by the table's thread while the slot is free; since: by anybody while it is 0;
//              the rest of a table: its thread
//
// 6. I1        a copy that read one word at its beginning and end is of one guard, or is free (a reader that sleeps while a thread
//              makes exactly a multiple of 65536 guards may mix two guards of one node)
//
// 7. Ordering table
// id  operation           order    pairs  carries                                              fails in
// P1  take: load word     acquire  P6     the dropper has read what it wanted                  guard_slots_model: reuse
// P3  take: site, since   release  P8     the slot was seen free: the reader's word is old     guard_slots_model: copy
// P4  take: word          release  P7     site and since                                       guard_slots_model: copy
// P5  own fields: load    relaxed  -      the thread wrote them itself; since may be a notice  (floor)
//                                         that comes at the same time, and then is its time
// P6  drop: word          release  P1     the dropper's reads come before the next writes      guard_slots_model: reuse
// P7  copy: word          acquire  P4     as P4                                                guard_slots_model: copy
// P8  copy: the rest      acquire  P3     as P3; and holds back the second look                guard_slots_model: copy
// P9  copy: word again    relaxed  -      after P8                                             guard_slots_model: copy
// P10  chunks: load next   acquire  P11    the chunk's slots                                    guard_slots_model: growth
// P11  chunks: store next  release  P10    the chunk's slots                                    guard_slots_model: growth
// P12  notice: CAS since   relaxed  -      a number; never instead of one that is there         (floor)

namespace roost::inline ROOST_ABI::detail {

static_assert(sizeof(site) == sizeof(std::uint64_t));

class guard_slot {
public:
    // Addresses with more bits are handed out only on request; their guards count as made at an unknown place.
    [[nodiscard]] static bool fits(const void* owner) noexcept {
        return (reinterpret_cast<std::uintptr_t>(owner) & ~owner_mask) == 0;
    }
    [[nodiscard]] bool is_free() const noexcept { return word_.load(mo::acquire) == 0; }  // P1

    // By the table's thread, when is_free() and fits(owner). number: of the guard, another one than the slot had before.
    void take(const void* owner, site where, std::int64_t since, std::uint32_t number) noexcept {
        const auto place = std::bit_cast<std::uint64_t>(where);
        if (site_.load(mo::relaxed) != place) {  // P5
            site_.store(place, mo::release);  // P3
        }
        if (since_.load(mo::relaxed) != since) {  // P5
            since_.store(since, mo::release);  // P3
        }
        word_.store((number * one_guard) | reinterpret_cast<std::uintptr_t>(owner), mo::release);  // P4
    }
    // By whoever holds the guard.
    void drop() noexcept { word_.store(0, mo::release); }  // P6
    [[nodiscard]] site where() const noexcept { return std::bit_cast<site>(site_.load(mo::relaxed)); }  // P5
    [[nodiscard]] std::int64_t since() const noexcept { return since_.load(mo::relaxed); }  // P5
    // From any thread, also when it is free: the next guard writes its own.
    void notice(std::int64_t now) noexcept {
        std::int64_t none = 0;
        if (since_.load(mo::relaxed) == none) {  // P5
            static_cast<void>(since_.compare_exchange_strong(none, -now, mo::relaxed, mo::relaxed));  // P12
        }
    }

    // Whose guard it is, and which: another one for every guard (I1).
    [[nodiscard]] std::uint64_t word() const noexcept { return word_.load(mo::acquire); }  // P7

    struct copy {
        const void* owner = nullptr;  // null: free, or it changed hands meanwhile
        std::uint64_t word = 0;
        site where;
        std::int64_t since = 0;
    };
    [[nodiscard]] copy read() const noexcept {
        const std::uint64_t word = word_.load(mo::acquire);  // P7
        copy c;
        c.word = word;
        c.where = std::bit_cast<site>(site_.load(mo::acquire));  // P8
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
    atomic<std::uint64_t> site_{0};  // a site; zero is the unknown one
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

    // By the table's thread. Null when there is no memory for more.
    [[nodiscard]] guard_slot* free_slot() noexcept { return last_->is_free() ? last_ : find_free(); }
    // By the table's thread: the slot it found last, free or not.
    [[nodiscard]] guard_slot* last_used() const noexcept { return last_; }
    // From any thread, also while the table is in use.
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
    // By the table's thread: notices a few slots, the next time the ones behind them.
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
    // The search goes round: `at_` in the slots of `in_` (null: first_).
    chunk* in_ = nullptr;
    std::size_t at_ = 0;
    std::size_t found_ = 0;  // in this round
    chunk* noticed_in_ = nullptr;  // as in_ and at_
    std::size_t noticed_at_ = 0;
    std::size_t total_ = first_slots;
    chunk* newest_ = nullptr;
    atomic<chunk*> chunks_{nullptr};
    guard_slot first_[first_slots];
};

}  // namespace roost::inline ROOST_ABI::detail
