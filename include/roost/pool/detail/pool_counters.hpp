#pragma once

#include <roost/base/atomic.hpp>
#include <roost/pool/options.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// Statistics of a pool since its creation. No decision depends on them.
//
// id  operation              order            pairs   carries                                             fails in
// T7  statistics             relaxed          -       nothing                                             (floor)
class pool_counters {
public:
    using counter = atomic<std::uint64_t>;

    static void add_one(counter& c) noexcept { c.fetch_add(1, mo::relaxed); }  // T7
    // For counters that change only under the queue's lock.
    static void add_one_locked(counter& c) noexcept {
        c.store(c.load(mo::relaxed) + 1, mo::relaxed);  // T7
    }
    void copy_to(pool_stats& to) const noexcept {
        to.created = created.load(mo::relaxed);  // T7
        to.destroyed = destroyed.load(mo::relaxed);  // T7
        to.create_failures = create_failures.load(mo::relaxed);  // T7
        to.handed_over = handed_over.load(mo::relaxed);  // T7
        to.withdrawn = withdrawn.load(mo::relaxed);  // T7
        to.checks_failed = checks_failed.load(mo::relaxed);  // T7
        to.expired = expired.load(mo::relaxed);  // T7
        const std::uint64_t over = ended_late.load(mo::relaxed);  // T7
        to.abandoned = abandoned.load(mo::relaxed);  // T7
        const std::uint64_t dropped = ended_drops.load(mo::relaxed);  // T7
        const std::uint64_t begun = to.abandoned + drops.load(mo::relaxed);  // T7
        to.late = begun > over + dropped ? static_cast<std::uint32_t>(begun - over - dropped) : 0;
        to.leaks = leaks.load(mo::relaxed);  // T7
    }

    counter created{0};
    counter destroyed{0};
    counter create_failures{0};
    counter handed_over{0};  // under the lock
    counter withdrawn{0};  // under the lock
    counter checks_failed{0};
    counter expired{0};
    counter abandoned{0};
    counter ended_late{0};  // abandoned attempts that have ended
    counter drops{0};  // awaitable destructions of resources in no slot
    counter ended_drops{0};
    counter leaks{0};
};

}  // namespace roost::inline ROOST_ABI::detail
