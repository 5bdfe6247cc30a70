#include <roost/tree/deadline.hpp>

#include <roost/tree/detail/walker.hpp>

#include <algorithm>
#include <mutex>

// Deadlines compose by minimum.
//
// Each node caches the answer. It is recomputed only under the node's own lock, from its own deadlines (the front of its
// list) and its parent's cached answer; a change stores first and visits the children after. So whoever recomputes a child
// last, in the order of its lock, has read the parent's newest answer or will be followed by somebody who has.
//
// id  operation            order    pairs  carries                                               fails in
// D1  deadline: load       relaxed  -      a number; nothing else is read because of it          (floor)
// D2  store                relaxed  -      as D1; among changes the locks order it               (floor)

namespace roost::inline ROOST_ABI {

using namespace detail;
using access = detail_node_access;

struct detail_deadline_access {
    static const own_deadline* as_deadline(const member* m) noexcept {
        return m != nullptr && m->kind() == member_kind::deadline ? static_cast<const own_deadline*>(m) : nullptr;
    }
};

namespace {

constexpr std::int64_t never = no_deadline.time_since_epoch().count();

// With the lock of n. True: the answer has changed.
bool recompute(node& n) noexcept {
    node* up = n.parent();
    std::int64_t least = up == nullptr || n.is_shield() ? never : access::deadline_of(*up).load(mo::relaxed);  // D1
    const member* m = access::members_of(n).first();
    for (; m != nullptr; m = member_list::next_of(*m)) {
        if (m->kind() == member_kind::marker) {
            continue;  // a walker's place, anywhere
        }
        const own_deadline* own = detail_deadline_access::as_deadline(m);
        if (own == nullptr) {
            break;
        }
        least = std::min(least, own->at().time_since_epoch().count());
    }
    if (access::deadline_of(n).load(mo::relaxed) == least) {  // D1
        return false;
    }
    access::deadline_of(n).store(least, mo::relaxed);  // D2
    return true;
}

struct passing_on {
    static look look_at(member& m) noexcept {
        return m.kind() == member_kind::node && !static_cast<node&>(m).is_shield() ? look::visit : look::skip;
    }
    static bool visit(node& n) noexcept {
        access::lock_of(n).lock();
        const bool changed = recompute(n);
        access::lock_of(n).unlock();
        return changed && n.has_members();
    }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    static void finish(node& /*n*/) noexcept {}
};

void pass_on(node& n) noexcept {
    if (n.has_members()) {
        passing_on visitor;
        walker walk(visitor);
        walk.run(n);
    }
}

}  // namespace

own_deadline::own_deadline(node& of, time_point at) noexcept
    : member(member_kind::deadline), of_(node_ref<>::share(of)), at_(at.time_since_epoch().count()) {
    access::lock_of(of).lock();
    access::members_of(of).push_front(*this);
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
}

own_deadline::~own_deadline() {
    node& of = *of_;
    access::lock_of(of).lock();
    access::members_of(of).erase(*this);
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
}

void own_deadline::change(time_point at) noexcept {
    node& of = *of_;
    access::lock_of(of).lock();
    at_.store(at.time_since_epoch().count(), mo::relaxed);  // D2
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
}

}  // namespace roost::inline ROOST_ABI
