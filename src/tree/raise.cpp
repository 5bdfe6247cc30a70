#include <roost/tree/detail/node.hpp>

#include <roost/base/assert.hpp>
#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/tree/detail/callback_member.hpp>
#include <roost/tree/detail/walker.hpp>

#include "deep_ignores.hpp"
#include "why_word.hpp"

#include <mutex>

// Raising a level.
//
// 1. Why it is not simpler. raise() promises that the whole subtree is latched when it returns, also if another thread has
//    raised the node already and is still walking through it. So a level has two bits: raised, set on the way down, and spread,
//    set on a node when everything below has been reached. A thread that finds raised without spread walks along; the walks
//    don't disturb each other. A child that is attached meanwhile reads its parent's level after it has been linked, so it is
//    either met by the walk or sees the level itself.
//
// 2.-3. Word: tree/detail/level_state.hpp. 4. One walker at one child:
//
//      spread --> skip        shield (cancel only) --> skip        ignoring (cancel only) --> set raised, skip
//      else set raised; newly: level_raised();   members: go below, at the end set spread
//
//    A leaf costs one fetch_or: no lock, no reference. Its list is read after the fetch_or (L5, N2), against an attach
//    that links first and reads the level then (N3, L3). Calling a view costs two acquisitions of the list's lock. So a node
//    that is not observed has a bit in the same word: beginning to observe clears the bit and finds the level raised, or the
//    raise finds the bit cleared.
//
// 7. Ordering table
// id  operation                     order    pairs     carries                                       fails in
// L1  level_now...: load            acquire  L5 Y5 L10 reasons; what the raiser did before           raise_model: observers
// L2  ..._relaxed: load             relaxed  -         nothing: the caller looks again               (floor)
// L5  walk: fetch_or                seq_cst  L3 L1     with N2: latched, then looks at the list      raise_model: attach_to_leaf
// L6  finish: fetch_or spread       release  L7        everything below is latched                   raise_model: helper_waits
// L7  raise: load                   acquire  L6        everything below is latched                   raise_model: helper_waits
// L8  ignore: CAS                   relaxed  -         one word decides who runs the deferred walk   (floor)
// L9  leave ignore: fetch_or        relaxed  -         as L8; what is read because of it is behind L1  (floor)
// L10  mark_gone: fetch_or           release  L1        what the last owner did                       raise_model: gone_carries
// L11  observe_level: fetch_and      acq_rel  L5 Y5 L1  out: the observer; in: what the raiser did    raise_model: observe_and_raise
// L12  raises_unobserved: load        relaxed  -         a switch, set while no thread raises          (floor)
// L13  note_lease: fetch_or           relaxed  -         a mark; the units say if the lease is held    raise_model: lease_and_raise
// L14  set_identified: fetch_or       relaxed  -         a mark, read behind the lock of the parent or N9    node_ids_model: find_against_end
// Y1  latch_own: store why_         release  Y2        the link, to readers of a lower level         why_model: reason_with_level
// Y4  latch_own: why_               relaxed  -         under the lock; not read yet                  (floor)
// Y5  latch_own: CAS level_         release  L1        out: why_                                     why_model: reason_with_level

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace seam;

using namespace detail;
using namespace detail::why_word;
using access = node_access;

namespace {

struct raising {
    level to;
    std::uint32_t me = thread_index();
    bool newly = false;  // set by look_at for visit

    look look_at(member& m) noexcept {
        if (m.kind() == member_kind::node) {
            return latch(static_cast<detail::node&>(m));
        }
        if (m.kind() == member_kind::callback && static_cast<callback_member&>(m).claim(to, me)) {
            return look::take;
        }
        return look::skip;
    }

    look latch(detail::node& child) noexcept {
        atomic<level_word>& word = access::level_of(child);
        level_word seen = word.load(mo::acquire);  // L7
        if ((seen & spread_bit(to)) != 0 || (to == level::cancel && detail::is_shield(seen))) {
            return look::skip;
        }
        newly = false;
        if (!is_raised(seen, to)) {
            const level_word before = word.fetch_or(raised_bit(to), mo::seq_cst);  // L5
            newly = !is_raised(before, to) && effective_level(before | raised_bit(to)) > effective_level(before);
            seen = before | raised_bit(to);
        }
        if (!passes(seen, to)) {
            return look::skip;
        }
        const bool tell = newly && is_told(child.functions(), seen);
        newly = tell;
        return tell || child.has_members() ? look::visit : look::skip;
    }

    static bool is_told(const detail::node_functions& view, level_word seen) noexcept {
        return view.level_raised != nullptr &&
               ((seen & unobserved_bit) == 0 ||
                (view.raises_unobserved != nullptr && view.raises_unobserved->load(mo::relaxed)));  // L12
    }

    bool visit(detail::node& child) noexcept {
        if (newly) {
            child.functions().level_raised(child, child.level_now());
        }
        return child.has_members();
    }

    static bool run(member& m) noexcept { return static_cast<callback_member&>(m).fire(); }
    static void ran(member& m) noexcept { static_cast<callback_member&>(m).finish(); }

    void finish(detail::node& n) const noexcept { access::level_of(n).fetch_or(spread_bit(to), mo::release); }  // L6
};

}  // namespace

// Sets the raised bit of this node with its own reason, and stores the word before in before_word. Returns false if it was
// raised already.
bool detail::node::latch_own(level to, reason& why, level_word& before_word) noexcept {
    const std::lock_guard guard(lock_);
    level_word seen = level_.load(mo::relaxed);  // L2
    if (is_raised(seen, to)) {
        return false;
    }
    void* before = why_.load(mo::relaxed);  // Y4
    before = is_known(before) ? nullptr : before;
    void* after = before;
    level_word kind = 0;
    if (before == nullptr) {
        after = to_word(std::move(why));
    } else {
        link* l = is_only_a_kind(why) ? nullptr : try_make_link(why, to, before);
        if (l != nullptr) {
            after = tagged(l);
        } else {
            kind = kind_bits(to, static_cast<std::uint32_t>(why.kind()));
        }
    }
    why_.store(after, mo::release);  // Y1
    const level_word bits = raised_bit(to) | own_bit(to) | kind;
    while (!level_.compare_exchange_weak(seen, seen | bits, mo::release, mo::relaxed)) {  // Y5
        if (!is_raised(seen, to)) {
            continue;
        }
        // A raise from above came in between: its reason counts. A bare record is taken back, because why_ is not read before
        // a level of its own is raised. A link stays, unused, because another thread may be reading the chain.
        if (before == nullptr) {
            why_.store(nullptr, mo::relaxed);  // Y4
            destroy_word(after);
        }
        return false;
    }
    before_word = seen;
    return true;
}

bool detail::node::raise(level to, reason why) noexcept {
    if (to == level::running || (level_.load(mo::acquire) & spread_bit(to)) != 0) {  // L7
        return false;
    }
    retain();
    level_word before = 0;
    const bool mine = latch_own(to, why, before);
    if (mine && flight_recorder::now() != 0) [[unlikely]] {
        flight_recorder::write(event_kind::level_raised, this, static_cast<std::uint64_t>(to),
                               flight_recorder::name_of(*this));
    }
    // If another call raised it, that was with this word or a later one. Read it again: the guard may be gone by now.
    const level_word now = mine ? before | raised_bit(to) : level_.load(mo::acquire);  // L1
    if (passes(now, to)) {
        if (mine && functions_->level_raised != nullptr && effective_level(now) > effective_level(before)) {
            functions_->level_raised(*this, level_now());
        }
        spread(to);
    }
    release();
    return mine;
}

void detail::node::spread(level to) noexcept {
    raising visitor{to};
    walker walk(visitor);
    walk.run(*this);
}

bool detail::node::enter_ignore() noexcept {
    if (ignore_depth_ == 0) {
        level_word seen = level_.load(mo::relaxed);  // L2
        do {
            if (effective_level(seen) >= level::cancel) {
                return false;
            }
        } while (!level_.compare_exchange_weak(seen, seen & ~heeding_bit, mo::relaxed, mo::relaxed));  // L8
    }
    if (ignore_depth_ < deep_ignores::counted_in_node) {
        ++ignore_depth_;
    } else if (!deep_ignores::add(*this)) {
        detail::panic(functions_->kind, name(), made_at_,
                      "there is no memory to count its ignore guards; it has hundreds, so look for a loop that keeps them");
    }
    return true;
}

void detail::node::leave_ignore() noexcept {
    ROOST_ASSERT(ignore_depth_ > 0, "an ignore guard was left that was never entered");
    const bool is_deep = ignore_depth_ == deep_ignores::counted_in_node && deep_ignores::remove(*this);
    if (is_deep || --ignore_depth_ > 0) {
        return;
    }
    const level_word before = level_.fetch_or(heeding_bit, mo::relaxed);  // L9
    if (!is_raised(before, level::cancel)) {
        return;
    }
    retain();
    if (effective_level(before) < level::cancel && functions_->level_raised != nullptr) {
        functions_->level_raised(*this, level_now());
    }
    spread(level::cancel);
    release();
}

void detail::node::mark_gone() noexcept { level_.fetch_or(gone_bit, mo::release); }  // L10

}  // namespace roost::inline ROOST_ABI
