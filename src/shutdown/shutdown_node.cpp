#include <roost/shutdown/detail/shutdown_node.hpp>

#include <roost/base/assert.hpp>
#include <roost/shutdown/detail/node_log.hpp>
#include <roost/tree/detail/callback_member.hpp>
#include <roost/tree/detail/walker.hpp>

#include <new>

// The node behind shutdown handles.
//
// 1. Why it is not simpler. Three things look alike and are not. Work (guards, running jobs) delays completion. Owners (handles,
//    unresolved completions, live children) mean that the node can still be stopped. Memory is held by both, and by interrupts,
//    which are neither. An interrupt must not wait for a stop that can no longer be requested. So the moment at which the last
//    owner and the last unit are gone must be detected, whichever goes last, at no cost for guards. The thread that drops the
//    last owner makes the tree report zero crossings (watch), then checks the units. The thread that drops the last unit after
//    that is notified (drained) and checks the owners.
//
// 2. Words     owners_  bits 0-31 handles, 32-62 pins, 63 gone.    level and work words: tree/detail.
//
// 4. Transitions of owners_
//      n --copy--> n+1 --drop--> n      root, last handle: becomes a pin while the node is being stopped
//      any --> 0                        final: owners are made from owners
//      0 --no work--> gone              once; effect: interrupts end, the parent loses a pin
//    The owners together hold one reference on the memory. The thread that brings them to 0 releases it. If a child's last owner
//    finds that this is the only reference, and there is no work, the child is removed without any of this: no thread waits for
//    it, and none can reach it.
//
// 5. Completion. Its waiters are claimed under the list's lock while the work word is zero. So a guard created before a waiter
//    was enqueued is seen, and a later one is too late (SHUT-29). The lock also orders a drain and a waiter that is being
//    enqueued: either the waiter is in the list, or it sees the zero. Thousands of children have no waiter. A node starts
//    unobserved (tree/node.hpp); a stop that finds it unobserved only sets the level. A waiter observes the node first. A waiter
//    for the completion of a stopped node makes the tree report zero crossings.
//    try_enter_guard() must fail once any thread has seen the end: a database may be closed by then. So a thread that sees the
//    end sees `watched` and no units in one word. It sets `watched` itself if needed, after it has seen the stop.
//    try_enter_guard() enters first and checks the stop afterwards, here and at every ancestor, because an ancestor can end
//    before its stop has reached the node. If it entered before the mark, a thread that sees the mark sees the unit. If it
//    entered after the mark, the mark carries the stop. A thread that relies on another thread's announcement or stripes is
//    ordered as that thread is.
//
// 6. Invariants
//    I1  a node with owners or work is not gone
//    I2  gone is set once, and the thread that set it drops the parent's pin
//
// 7. Ordering table
// id  operation                  order    pairs     carries                                              fails in
// H1  is_terminal: load          acquire  L4 L5     what the stopper did before                          shutdown_model: stop_publishes
// H2  add: fetch_add             relaxed  -         the caller owns one already                          (floor)
// H3  drop: fetch_sub            acq_rel  H3        all accesses before the node is gone                 shutdown_node_model: going_publishes
// H4  root handle: CAS           acq_rel/relaxed  H4   all accesses before it is stopped                 shutdown_node_model: last_root_handle_publishes
// H5  drained: load              relaxed  -         with W2/W3: dropped, then watched                    (floor)
// H6  try_go: fetch_or           relaxed  -         one winner; L5 shows it                              (floor)
// H8  drop: load                 acquire  H3        as H3, when no other owner is left                   shutdown_node_model: unshared_child_goes
// H9  is_complete: load          acquire  W2 W3     the work of all threads                              try_guard_model: stop_and_completion
// H11  apart: add, sub, load     relaxed  -         a number; each guard's own changes of it are in order      (floor)
// H10  is_complete: fetch_or      acq_rel  W1-W3 W10 in: all threads' work; out: the stop that was seen   try_guard_model: completion_seen_elsewhere

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions shutdown_node::functions_of_shutdown{.kind = "shutdown",
                                                                    .destroy = &shutdown_node::destroy,
                                                                    .level_raised = &shutdown_node::level_raised,
                                                                    .raises_unobserved = log_switch,
                                                                    .drained = &shutdown_node::drained,
                                                                    .mixed = &shutdown_node::mixed};

shutdown_node::shutdown_node(node_name name, site made_at)
    : node(functions_of_shutdown, name, made_at, node_shape{.unobserved = true}), owners_(one_handle) {}

shutdown_node::shutdown_node(shutdown_node& parent, node_name name, site made_at)
    : node(functions_of_shutdown, parent, name, made_at, node_shape{.unobserved = true}), owners_(one_handle) {}

namespace {

struct block {
    void* memory = allocate_frame(sizeof(shutdown_node));
    block() = default;
    block(const block&) = delete;
    block& operator=(const block&) = delete;
    ~block() {
        if (memory != nullptr) {
            deallocate_frame(memory, sizeof(shutdown_node));
        }
    }
};

}  // namespace

shutdown_node* shutdown_node::make_root(node_name name, site made_at) {
    // The first call registers the process with membarrier. With several threads that waits for every processor: tens of
    // milliseconds. A root is usually created before the threads; the guard that stripes it is not.
    static_cast<void>(has_heavy_barrier());
    block b;
    auto* made = ::new (b.memory) shutdown_node(name, made_at);
    b.memory = nullptr;
    return made;
}

shutdown_node* shutdown_node::make_child(shutdown_node& parent, node_name name, site made_at) {
    block b;
    auto* made = ::new (b.memory) shutdown_node(parent, name, made_at);
    b.memory = nullptr;
    parent.add_pin();
    if (made->attach(child_kind::idle) == attached::refused) {
        panic("shutdown", parent.name(), parent.made_at(),
              "it cannot add child '" + std::string(made->name()) + "': it is closed, or has too many children or guards");
    }
    if (made->is_stopping()) {
        made->watch();  // created stopped: no stop will reach it
    }
    return made;
}

void shutdown_node::destroy(node& n) noexcept {
    auto& self = static_cast<shutdown_node&>(n);
    self.~shutdown_node();
    deallocate_frame(&self, sizeof(shutdown_node));
}

// --- owners --------------------------------------------------------------------------------------------------------------

void shutdown_node::add_handle() noexcept {
    const owner_word before = owners_.fetch_add(one_handle, mo::relaxed);  // H2
    if ((before & handle_mask) >= handle_limit) [[unlikely]] {
        panic("shutdown", name(), made_at(), "too many handles (at most 2^31)");
    }
}

void shutdown_node::add_pin() noexcept {
    const owner_word before = owners_.fetch_add(one_pin, mo::relaxed);  // H2
    if ((before >> 32U) >= pin_limit) [[unlikely]] {
        panic("shutdown", name(), made_at(), "too many unresolved completions and children (at most 2^30)");
    }
}

void shutdown_node::drop_handle() noexcept {
    if (parent() != nullptr) {
        drop_owner(this, one_handle);
        return;
    }
    owner_word seen = owners_.load(mo::relaxed);  // H2
    for (;;) {
        // The last handle becomes a pin that keeps the node while it is being stopped: other owners may be dropped meanwhile.
        const bool last = (seen & handle_mask) == 1;
        const owner_word next = seen - one_handle + (last ? one_pin : 0);
        if (owners_.compare_exchange_weak(seen, next, mo::acq_rel, mo::relaxed)) {  // H4
            if (last) {
                stop(reason::plain_kind(reason_kind::dropped));
                drop_pin();
            }
            return;
        }
    }
}

void shutdown_node::drop_owner(shutdown_node* n, owner_word what) noexcept {
    for (;;) {
        auto* up = static_cast<shutdown_node*>(n->parent());
        if (up != nullptr && n->owners_.load(mo::acquire) == what && access::end_unshared(*n)) {  // H8
            n = up;
            what = one_pin;
            continue;
        }
        if (n->owners_.fetch_sub(what, mo::acq_rel) != what) {  // H3
            return;
        }
        n->settle();
        n->watch();
        const bool went = n->try_go();
        n->release();  // of the owners; the pin that is dropped next keeps the parent
        if (!went || up == nullptr) {
            return;
        }
        n = up;
        what = one_pin;
    }
}

// Requires that the node has no owners. Returns true if it has no work either and this call marked it gone. The caller then drops
// the parent's pin.
bool shutdown_node::try_go() noexcept {
    if (has_work() || (owners_.fetch_or(gone_mark, mo::relaxed) & gone_mark) != 0) {  // H6
        return false;
    }
    mark_gone();
    wake_for_stop();
    notify_interrupts();
    return true;
}

namespace {

// Runs the stop callbacks of this node alone.
struct gone_visitor {
    static look look_at(member& m) noexcept {
        const bool mine =
            m.kind() == member_kind::callback && static_cast<callback_member&>(m).claim(level::stop, thread_index());
        return mine ? look::take : look::skip;
    }
    static bool visit(node& /*n*/) noexcept { return false; }
    static bool run(member& m) noexcept { return static_cast<callback_member&>(m).fire(); }
    static void ran(member& m) noexcept { static_cast<callback_member&>(m).finish(); }
    static void finish(node& /*n*/) noexcept {}
};

}  // namespace

void shutdown_node::notify_interrupts() noexcept {
    gone_visitor visitor;
    walker walk(visitor);
    walk.run(*this);
}

// --- called by the tree ----------------------------------------------------------------------------------------------------

void shutdown_node::level_raised(node& n, level now) noexcept {
    auto& self = static_cast<shutdown_node&>(n);
    self.watch();
    self.settle();
    log_raised(self, now);
    self.wake_for_stop();
    if (self.wake_if_complete()) {
        log_complete(self);
    }
}

bool shutdown_node::drained(node& n) noexcept {
    auto& self = static_cast<shutdown_node&>(n);
    if (self.wake_if_complete()) {
        log_complete(self);
    }
    if (self.owners_.load(mo::relaxed) == 0 && self.try_go()) {  // H5
        if (node* up = self.parent()) {
            drop_owner(static_cast<shutdown_node*>(up), one_pin);
        }
    }
    return true;
}

// --- waiting ---------------------------------------------------------------------------------------------------------------

bool shutdown_node::enqueue(shutdown_waiter& w) noexcept {
    waiters_.lock();
    if (observe_level() && w.what() == wait_for::completion) {
        watch();  // the stop may have passed the node while it was unobserved
    }
    const bool must_wait = !holds(w.what());
    if (must_wait) {
        waiters_.push_back(w);
    }
    waiters_.unlock();
    return must_wait;
}

bool shutdown_node::cancel_wait(waiter& w, claim as) noexcept {
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    waiters_.unlock();
    return claimed;
}

void shutdown_node::wake_for_stop() noexcept {
    wake_chain woken;
    waiters_.lock();
    for (waiter* w = waiters_.front(); w != nullptr;) {
        waiter* next = waiters_.next_of(*w);
        if (static_cast<shutdown_waiter*>(w)->what() == wait_for::stop) {
            waiters_.take(*w, claim::released);
            woken.add(*w);
        }
        w = next;
    }
    waiters_.unlock();
    woken.deliver(name());
}

bool shutdown_node::wake_if_complete() noexcept {
    wake_chain woken;
    waiters_.lock();
    const bool complete = is_complete();
    if (complete) {
        woken = waiters_.take_all();
    }
    waiters_.unlock();
    woken.deliver(name());
    return complete;
}

}  // namespace roost::inline ROOST_ABI::detail
