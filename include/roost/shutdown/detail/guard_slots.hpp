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
//    the stop of a root, every 64th guard of its thread) enters one.
//
// 2. Slot      owner    null: free.  node: a guard of that node
//              version  counts how often the slot was taken
//              site
//              since    when it was taken; 0: not written down; negative: when it was first noticed
//
// 4.           free --take, by the table's thread--> taken --drop, by anybody--> free
//
// 5. Fields    version, site, since: written by the table's thread while the slot is free; since: by anybody while it is 0;
//              the rest of a table: its thread
//
// 6. I1        a copy that read one version at its beginning and end is of one guard, or is free
//
// 7. Ordering table
// id  operation           order    pairs  carries                                              fails in
// P1  take: load owner    acquire  P6     the dropper has read what it wanted                  guard_slots_model: reuse
// P2  take: version       release  P7     the slot was seen free: a reader finds no old owner  guard_slots_model: copy
// P3  take: site, since   release  P8     the version that goes with them                      guard_slots_model: copy
// P4  take: owner         release  P8     site and since                                       guard_slots_model: copy
// P5  own fields: load    relaxed  -      the thread wrote them itself                         (floor)
// P6  drop: owner         release  P1     the dropper's reads come before the next writes      guard_slots_model: reuse
// P7  copy: version       acquire  P2     as P2                                                guard_slots_model: copy
// P8  copy: the rest      acquire  P3 P4  as P3, P4; and holds back the second look            guard_slots_model: copy
// P9  copy: version again relaxed  -      after P8                                             guard_slots_model: copy
// P10  chunks: load next   acquire  P11    the chunk's slots                                    guard_slots_model: growth
// P11  chunks: store next  release  P10    the chunk's slots                                    guard_slots_model: growth
// P12  notice: CAS since   relaxed  -      a number; never instead of one that is there         (floor)

namespace roost::inline ROOST_ABI::detail {

static_assert(sizeof(site) == sizeof(std::uint64_t));

class guard_slot {
public:
    [[nodiscard]] bool is_free() const noexcept { return owner_.load(mo::acquire) == nullptr; }  // P1

    // By the table's thread, when is_free().
    void take(const void* owner, site where, std::int64_t since) noexcept {
        version_.store(version_.load(mo::relaxed) + 1, mo::release);  // P5 P2
        site_.store(std::bit_cast<std::uint64_t>(where), mo::release);  // P3
        since_.store(since, mo::release);  // P3
        owner_.store(owner, mo::release);  // P4
    }
    // By whoever holds the guard.
    void drop() noexcept { owner_.store(nullptr, mo::release); }  // P6
    [[nodiscard]] site where() const noexcept { return std::bit_cast<site>(site_.load(mo::relaxed)); }  // P5
    [[nodiscard]] std::int64_t since() const noexcept { return since_.load(mo::relaxed); }  // P5
    // From any thread, also when it is free: the next guard writes its own.
    void notice(std::int64_t now) noexcept {
        std::int64_t none = 0;
        if (since_.load(mo::relaxed) == none) {  // P5
            static_cast<void>(since_.compare_exchange_strong(none, -now, mo::relaxed, mo::relaxed));  // P12
        }
    }

    struct copy {
        const void* owner = nullptr;  // null: free, or it changed hands meanwhile
        site where;
        std::int64_t since = 0;
    };
    [[nodiscard]] copy read() const noexcept {
        const std::uint32_t version = version_.load(mo::acquire);  // P7
        copy c;
        c.owner = owner_.load(mo::acquire);  // P8
        c.where = std::bit_cast<site>(site_.load(mo::acquire));  // P8
        c.since = since_.load(mo::acquire);  // P8
        if (version_.load(mo::relaxed) != version) {  // P9
            c.owner = nullptr;
        }
        return c;
    }

private:
    atomic<const void*> owner_{nullptr};
    atomic<std::uint64_t> site_{0};  // a site; zero is the unknown one
    atomic<std::int64_t> since_{0};
    atomic<std::uint32_t> version_{0};
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
    [[nodiscard]] guard_slot* free_slot() noexcept {
        if (last_->is_free()) [[likely]] {
            return last_;
        }
        return find_free();
    }
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
