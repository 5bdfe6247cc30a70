#pragma once

#include <roost/tree/detail/node_access.hpp>

#include <span>

// Walks a subtree without recursion, without allocation, and with at most one lock held. A node the walker stands on or below
// has a cursor: it stays in its parent's list, so the way back is always there.
//
// A visitor has
//   look look_at(member&)                under the lock of the node that owns the list: skip it or visit it
//   bool visit(node&)                    no lock held: returns true to continue below it
//   bool run(member&)                    the same for a callback; returns false if it is gone and must not be touched
//   void ran(member&)                    after that, under the lock again
//   void finish(node&)                   the list of this node is done; its lock is held
//   void begin(node&)                    optional: before the first member of its list; its lock is held

namespace roost::inline ROOST_ABI::detail {

enum class look : std::uint8_t {
    skip,
    visit,
    take,  // a callback leaves the list and is run
    end,  // no later member is visited
};

// Marks a position in a list and belongs to no node.
struct list_marker : member {
    list_marker() noexcept : member(member_kind::marker) {}
};

template <class Visitor>
class walker {
    using access = node_access;

public:
    explicit walker(Visitor& visitor) noexcept : visitor_(visitor) {}

    // Requires that the caller holds a reference on root.
    void run(node& root) noexcept { go_on(root, &root, begin(root)); }

    // Walks on behind the last node of `path`, which leads down from a child of root; with go_below also below it. Requires that
    // the caller holds references on all of them. Returns false, and visits nothing, if one has left the tree.
    [[nodiscard]] bool run_from(node& root, std::span<node* const> path, bool go_below) noexcept {
        if (!step_down(root, path)) {
            return false;
        }
        node* at = path.empty() ? &root : path.back();
        if (go_below || path.empty()) {
            go_on(root, at, begin(*at));
            return true;
        }
        node* below = at;
        at = below->parent();
        access::lock_of(*at).lock();
        go_on(root, at, step_off(*at, *below));
        return true;
    }

private:
    static constexpr unsigned most_under_lock = 64;

    // Walks on from m, or from the end of the list; the lock of `at` is held. There is a cursor on every node from below root
    // down to `at`.
    void go_on(node& root, node* at, member* m) noexcept {
        for (;;) {
            m = go_along(at, m);
            if (m != nullptr) {  // go below m
                at = static_cast<node*>(m);
                m = begin(*at);
                continue;
            }
            visitor_.finish(*at);
            access::lock_of(*at).unlock();
            if (at == &root) {
                break;
            }
            node* below = at;
            at = below->parent();
            access::lock_of(*at).lock();
            m = step_off(*at, *below);
        }
        bury();
    }

    // Puts a cursor on every node of the path. Returns false, and leaves none, if one is not in the list of the one above.
    bool step_down(node& root, std::span<node* const> path) noexcept {
        node* at = &root;
        for (std::size_t on = 0; on < path.size(); ++on) {
            node& child = *path[on];
            bool is_there = child.parent() == at;
            if (is_there) {
                access::lock_of(*at).lock();
                is_there = (access::flags_of(child) & access::is_linked) != 0;
                if (is_there) {
                    step_on(child);
                }
                access::lock_of(*at).unlock();
            }
            if (!is_there) {
                step_up(path.first(on));
                return false;
            }
            at = &child;
        }
        return true;
    }
    void step_up(std::span<node* const> path) noexcept {
        for (std::size_t on = path.size(); on-- > 0;) {
            node& up = *path[on]->parent();
            access::lock_of(up).lock();
            static_cast<void>(step_off(up, *path[on]));
            access::lock_of(up).unlock();
        }
        bury();
    }

    member* begin(node& at) noexcept {
        access::lock_of(at).lock();
        if constexpr (requires { visitor_.begin(at); }) {
            visitor_.begin(at);
        }
        return access::members_of(at).first();
    }

    // Walks from m to the end of the list of `at`, whose lock is held. Returns a node to go below (lock released, cursor on
    // it), or null at the end (lock held).
    member* go_along(node* at, member* m) noexcept {
        unsigned held = 0;
        while (m != nullptr) {
            if (const member* ahead = member_list::next_of(*m)) {
                __builtin_prefetch(ahead);  // a raise is a locked instruction per child: nothing is loaded beyond it
            }
            switch (visitor_.look_at(*m)) {
                case look::skip:
                    if (++held < most_under_lock || m->kind() != member_kind::node) {
                        m = member_list::next_of(*m);
                        break;
                    }
                    held = 0;  // let other threads have the lock
                    step_on(*static_cast<node*>(m));
                    access::lock_of(*at).unlock();
                    bury();
                    access::lock_of(*at).lock();
                    m = step_off(*at, *static_cast<node*>(m));
                    break;
                case look::visit: {
                    held = 0;
                    auto& child = *static_cast<node*>(m);
                    step_on(child);
                    access::lock_of(*at).unlock();
                    bury();
                    if (visitor_.visit(child)) {
                        return m;
                    }
                    access::lock_of(*at).lock();
                    m = step_off(*at, child);
                    break;
                }
                case look::end: return nullptr;
                case look::take: {
                    held = 0;
                    list_marker here;
                    access::members_of(*at).replace(*m, here);
                    access::lock_of(*at).unlock();
                    bury();
                    const bool is_there = visitor_.run(*m);
                    access::lock_of(*at).lock();
                    if (is_there) {
                        visitor_.ran(*m);
                    }
                    m = member_list::next_of(here);
                    access::members_of(*at).erase(here);
                    break;
                }
            }
        }
        return nullptr;
    }

    static void step_on(node& n) noexcept { ++access::cursors_of(n); }

    // Requires the lock of `at`. Leaves n and returns the next member. The last cursor to leave does what was deferred
    // because of it.
    member* step_off(node& at, node& n) noexcept {
        member* next = member_list::next_of(n);
        if (--access::cursors_of(n) == 0) {
            std::uint8_t& flags = access::flags_of(n);
            if ((flags & access::unlink_wanted) != 0) {
                access::members_of(at).erase(n);
                flags = static_cast<std::uint8_t>(flags & ~(access::is_linked | access::unlink_wanted));
            }
            if ((flags & access::destroy_wanted) != 0) {
                dead_.push_back(n);
            }
        }
        return next;
    }

    // Requires that no lock is held. Destroys nodes that died under our cursor.
    void bury() noexcept {
        while (member* m = dead_.first()) {
            dead_.erase(*m);
            access::dispose_unlinked(static_cast<node*>(m));
        }
    }

    Visitor& visitor_;
    member_list dead_;
};

}  // namespace roost::inline ROOST_ABI::detail
