// Order D2: src/tree/deadline.cpp.
// Order L2: src/tree/raise.cpp.
// Order Y3: src/tree/why.cpp.

#include <roost/tree/detail/node.hpp>

#include <roost/base/assert.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/detail/node_ids.hpp>

#include <cstring>
#include <mutex>

// Life of a node: construction, attaching, memory. (Work counting: work_count.cpp; levels: raise.cpp; reasons: why.cpp.)
//
// 1. Why it is not simpler. A child must be reachable for a raise from the moment it exists until its memory goes, and the
//    walker that reaches it must not keep it alive: a parent that held references would keep a million finished children.
//    So the list holds plain pointers, and a node leaves it under the parent's lock before it dies. A walker can't hold that
//    lock while it is below the child, hence cursors: a node under a cursor stays linked, and the last cursor to leave does
//    what was deferred.
//
// 5. Field access
//    members_, next_, prev_      the lock of the node that owns the list
//    cursors_, flags_            the parent's lock; flags_ of an unattached node: its maker
//    ignore_depth_               the body that owns the node
//    parent_, functions_, name_, traits_, made_at_   constant once attached
//
// 6. Invariants
//    I4  a linked node's memory is valid as long as the parent's lock is held
//    I5  every member of a node's list has a reference on the node, so a walker can always climb
//    I6  a node with cursors_ > 0 is linked
//
// 7. Ordering table
// id  operation                     order    pairs  carries                                       fails in
// N1  first: load                   relaxed  -      under the lock                                (floor)
// N2  is_empty_now: load            seq_cst  N3     with L5: walker latched, then looks           raise_model: attach_to_leaf
// N3  push: store head              seq_cst  N2     with L3: attacher linked, then looks          raise_model: attach_to_leaf
// N4  erase, replace: store head    relaxed  -      under the lock; a stale non-null only costs   (floor)
// N5  retain: fetch_add             relaxed  -      the caller already holds a reference          (floor)
// N6  release: fetch_sub            acq_rel  N6 W3  every holder's accesses end before destroy    work_model: last_unit_against_last_holder
// N7  attach: CAS                   acquire  W8     the units of pass 1 at every ancestor         work_model: attach_visible_at_root
// N8  try_retain: CAS               relaxed  -      the cursor keeps the memory; N6 ends it       (floor)
// N9  end_alone, _unshared: load    acquire  N6 W2  all other accesses and work end before it     end_alone_model: last_holder
// L3  attach: load of parent        seq_cst  L5     with N3: linked, then looks                   raise_model: attach_to_leaf
// L4  attach: fetch_or              relaxed  -      the lock, behind L3, carries it               (floor)
// W4  commit, end_...: load         relaxed  -      only a first guess; the CAS or N9 decides     (floor)
// W6  attach: store                 relaxed  -      not in the tree yet; the lock publishes it    (floor)

namespace roost::inline ROOST_ABI {

using namespace seam;

using namespace detail;
using access = node_access;

void detail::node::copy_name(node_name name) {
    std::string_view text = name.text();
    text = text.substr(0, text.find('\0'));  // the copy is freed by its length
    if (text.empty()) {
        return;
    }
    auto* copy = static_cast<char*>(allocate(text.size() + 1));
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    name_ = copy;
    traits_ |= name_is_owned;
}

void detail::node::destroy_details() noexcept {
    if (is_identified()) {
        node_ids::forget(*this);
    }
    if (!has_literal_name()) {
        deallocate(const_cast<char*>(name_), std::strlen(name_) + 1);
    }
    access::release_reasons(why_.load(mo::relaxed));  // Y3
}

detail::attached detail::node::attach(detail::child_kind kind, detail::admission as) noexcept {
    if ((traits_ & was_attached) != 0) [[unlikely]] {
        return detail::attached::twice;
    }
    detail::node& up = *parent_;
    if (up.functions_->mixed != nullptr) {
        up.mix();
    }
    const bool with_unit = kind == detail::child_kind::working;
    const work_word more = one_reference + (with_unit ? one_unit : 0);
    work_word seen = up.work_.load(mo::relaxed);  // W4
    do {
        if (!adopts(seen, as == detail::admission::member)) {
            return detail::attached::refused;
        }
    } while (!up.work_.compare_exchange_weak(seen, seen + more, mo::acquire, mo::relaxed));  // N7
    if (with_unit && (seen & announced_bit) == 0 && !up.announce()) {
        up.leave();
        up.release();
        return detail::attached::refused;
    }
    if (with_unit) {
        work_.store(one_unit | one_reference | announced_bit, mo::relaxed);  // W6
    }
    traits_ |= was_attached;
    flags_ |= access::is_linked;
    up.lock_.lock();
    up.members_.push_back(*this);
    deadline_.store(is_shield() ? no_deadline.time_since_epoch().count() : up.deadline_.load(mo::relaxed),
                    mo::relaxed);  // D2
    const level_word above = up.level_.load(mo::seq_cst);  // L3
    up.lock_.unlock();
    if ((above & raised_mask) != 0) {
        const level_word mine = inherited_bits(above, level_.load(mo::relaxed));  // L2
        if (mine != 0) {
            level_.fetch_or(mine, mo::relaxed);  // L4
        }
    }
    return detail::attached::yes;
}

void detail::node::discard() noexcept {
    ROOST_ASSERT((flags_ & access::is_linked) == 0, "discard() is for nodes that were never attached");
    functions_->destroy(*this);
}

void detail::node::too_many_references() const noexcept {
    detail::panic(functions_->kind, name(), made_at_, "it has more references than can be counted");
}

bool detail::node::try_retain() noexcept {
    work_word seen = work_.load(mo::relaxed);  // W4
    for (;;) {
        const work_step s = try_reference(work_state::unpack(seen));
        if (!s.next) {
            return false;
        }
        if (work_.compare_exchange_weak(seen, s.next->pack(), mo::relaxed, mo::relaxed)) {  // N8
            if (s.next->references > reference_limit) [[unlikely]] {
                too_many_references();
            }
            return true;
        }
    }
}

void detail::node::unlink_early() noexcept {
    if (parent_ == nullptr) {
        return;
    }
    const std::lock_guard guard(parent_->lock_);
    if ((flags_ & access::is_linked) == 0) {
        return;
    }
    if (cursors_ > 0) {
        flags_ |= access::unlink_wanted;
        return;
    }
    parent_->members_.erase(*this);
    flags_ = static_cast<std::uint8_t>(flags_ & ~access::is_linked);
}

// Once the node is out of the list and the caller is its only holder, no other thread can get a reference, unless the node was
// given an id. So no commit on its own word is needed.
bool detail::node::end_alone(std::uint32_t references) noexcept {
    if (work_.load(mo::relaxed) != alone_with(references)) {  // W4
        return false;
    }
    detail::node& up = *parent_;
    up.lock_.lock();
    if (cursors_ > 0 || work_.load(mo::acquire) != alone_with(references) || is_identified()) {  // N9
        up.lock_.unlock();
        return false;
    }
    ROOST_ASSERT((flags_ & access::is_linked) != 0, "I4: a node with work of its own is not in the tree");
    up.members_.erase(*this);  // mutate
    flags_ = static_cast<std::uint8_t>(flags_ & ~access::is_linked);
    up.lock_.unlock();
    functions_->destroy(*this);
    up.leave_with_child();
    return true;
}

bool detail::node_access::end_unshared(detail::node& n) noexcept {
    if (!is_unshared(n.work_.load(mo::relaxed))) {  // W4
        return false;
    }
    detail::node& up = *n.parent_;
    up.lock_.lock();
    if (n.cursors_ > 0 || !is_unshared(n.work_.load(mo::acquire)) || n.is_identified()) {  // N9
        up.lock_.unlock();
        return false;
    }
    if ((n.flags_ & is_linked) != 0) {
        up.members_.erase(n);
        n.flags_ = static_cast<std::uint8_t>(n.flags_ & ~is_linked);
    }
    up.lock_.unlock();
    n.functions_->destroy(n);
    up.release();
    return true;
}

void detail::node::dispose() noexcept { access::dispose(this); }

void detail::node_access::dispose(detail::node* n) noexcept {
    if (detail::node* up = n->parent_; up != nullptr) {
        const std::lock_guard guard(up->lock_);
        if (n->cursors_ > 0) {
            n->flags_ |= unlink_wanted | destroy_wanted;
            return;
        }
        if ((n->flags_ & is_linked) != 0) {
            up->members_.erase(*n);
            n->flags_ = static_cast<std::uint8_t>(n->flags_ & ~is_linked);
        }
    }
    dispose_unlinked(n);
}

void detail::node_access::dispose_unlinked(detail::node* n) noexcept {
    for (;;) {
        detail::node* up = n->parent_;
        n->functions_->destroy(*n);
        if (up == nullptr) {
            return;
        }
        const work_word before = up->work_.fetch_sub(one_reference, mo::acq_rel);  // N6
        if (!work_state::unpack(before - one_reference).is_dead()) {
            return;
        }
        n = up;
        if (detail::node* above = n->parent_; above != nullptr) {
            const std::lock_guard guard(above->lock_);
            if (n->cursors_ > 0) {
                n->flags_ |= unlink_wanted | destroy_wanted;
                return;
            }
            if ((n->flags_ & is_linked) != 0) {
                above->members_.erase(*n);
                n->flags_ = static_cast<std::uint8_t>(n->flags_ & ~is_linked);
            }
        }
    }
}

}  // namespace roost::inline ROOST_ABI
