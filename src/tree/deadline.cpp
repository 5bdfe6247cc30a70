#include <roost/tree/detail/deadline.hpp>

#include <roost/base/assert.hpp>
#include <roost/tree/detail/walker.hpp>
#include <roost/tree/token.hpp>

#include <algorithm>
#include <mutex>

// Deadlines compose by minimum.
//
// Each node caches the answer. It is recomputed only under the node's own lock, from its own deadlines (the front of its
// list) and its parent's cached answer. A change stores first and visits the children afterwards. So the last thread to
// recompute a child, in the order of its lock, has read the parent's newest answer, or a thread that has follows it.
//
// id  operation            order    pairs  carries                                               fails in
// D1  deadline: load       relaxed  -      a number; nothing else is read because of it          (floor)
// D2  store                relaxed  -      as D1; among changes the locks order it               (floor)

namespace roost::inline ROOST_ABI::detail {

using access = node_access;

struct deadline_access {
    static own_deadline* as_deadline(member* m) noexcept {
        return m != nullptr && m->kind() == member_kind::deadline ? static_cast<own_deadline*>(m) : nullptr;
    }
    // Both require the lock of its node.
    static void add(own_deadline& own, std::uint8_t fact) noexcept {
        own.facts_.store(own.facts_.load(mo::relaxed) | fact, mo::relaxed);  // D1 D2
    }
    static bool has_ended(const own_deadline& own) noexcept {
        return (own.facts_.load(mo::relaxed) & own_deadline::ended) != 0;  // D1
    }
    static bool pass(own_deadline& own, time_point at) noexcept {
        if (own.kind() == deadline_kind::limit && own.at() <= at) {
            add(own, own_deadline::passed);
        }
        return own.has_passed();
    }
};

namespace {

constexpr std::int64_t never = no_deadline.time_since_epoch().count();

// Requires the lock of n. Visits its own deadlines, which are the front of its list.
template <class Fn>
void for_each_own(node& n, Fn fn) noexcept {
    for (member* m = access::members_of(n).first(); m != nullptr; m = member_list::next_of(*m)) {
        if (m->kind() == member_kind::marker) {
            continue;  // the marker of a walker, anywhere
        }
        own_deadline* own = deadline_access::as_deadline(m);
        if (own == nullptr) {
            return;
        }
        fn(*own);
    }
}

// Requires the lock of n. Returns true if the answer has changed.
bool recompute(node& n) noexcept {
    node* up = n.parent();
    std::int64_t least = up == nullptr || n.is_shield() ? never : access::deadline_of(*up).load(mo::relaxed);  // D1
    for_each_own(n, [&](const own_deadline& own) { least = std::min(least, own.at().time_since_epoch().count()); });
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

bool has_passed_limit(node& n, time_point at) noexcept {
    bool passed = false;
    access::lock_of(n).lock();
    for_each_own(n, [&](own_deadline& own) { passed = deadline_access::pass(own, at) || passed; });
    access::lock_of(n).unlock();
    return passed;
}

}  // namespace

void cancel_passed(node& n, time_point at) noexcept {
    for (node* up = &n; up != nullptr && up->deadline() <= at; up = up->is_shield() ? nullptr : up->parent()) {
        if (has_passed_limit(*up, at)) {
            up->cancel(reason::plain_kind(reason_kind::timeout));
        }
    }
}

own_deadline::own_deadline(node& of, time_point at, deadline_kind kind) noexcept
    : member(member_kind::deadline), of_(&of), at_(at.time_since_epoch().count()), kind_(kind) {
    access::lock_of(of).lock();
    access::members_of(of).push_front(*this);
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
}

void own_deadline::end() noexcept {
    node& of = *of_;
    access::lock_of(of).lock();
    ROOST_ASSERT(!deadline_access::has_ended(*this), "a deadline was ended twice");
    deadline_access::add(*this, ended);
    access::members_of(of).erase(*this);
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
}

deadline_move own_deadline::try_move(const deadline_change& to, time_point now) noexcept {
    node& of = *of_;
    access::lock_of(of).lock();
    const bool has_ended = deadline_access::has_ended(*this);
    if (has_ended || deadline_access::pass(*this, now)) {
        access::lock_of(of).unlock();
        return has_ended ? deadline_move::ended : deadline_move::passed_before;
    }
    at_.store(to.applied(at(), now).time_since_epoch().count(), mo::relaxed);  // D2
    const bool passes = deadline_access::pass(*this, now);
    const bool changed = recompute(of);
    access::lock_of(of).unlock();
    if (changed) {
        pass_on(of);
    }
    return passes ? deadline_move::passed_now : deadline_move::moved;
}

bool own_deadline::try_pass(time_point at) noexcept {
    const std::lock_guard guard(access::lock_of(*of_));
    return !deadline_access::has_ended(*this) && deadline_access::pass(*this, at);
}

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI {

// A unit of work keeps the node, and so its executor, from ending while the clock is asked.
duration token::remaining() const noexcept {
    if (!node_ || node_->functions().clock == nullptr || !node_->try_enter_as_member()) {
        return remaining(now());
    }
    const time_point at = node_->functions().clock(*node_);
    node_->leave();
    return remaining(at);
}

}  // namespace roost::inline ROOST_ABI
