#include <roost/shutdown/detail/shutdown_node.hpp>

#include <roost/tree/detail/walker.hpp>

#include <array>
#include <new>
#include <optional>

// When a shutdown node is striped, and how its guards are counted. (The striped counting itself: shutdown/detail/stripes.hpp.)
//
// 1. A striped node holds one unit of its own until its stripes are closed. They are closed by the stop that reaches the node, by
//    the thread that drops the last owner, or by the first query of the state of a stopped node. Until then neither the node nor
//    an ancestor can complete. Afterwards the node behaves as if it had never been striped. If a node is striped while it is
//    stopped, one of the two threads closes the stripes. The striping thread publishes the stripes and then observes the level,
//    so it finds the stop, or the stop finds the stripes.
//
//    The number of guards of a node is one that it had at one moment. The work word holds it only while nothing else is counted
//    there. Children and stripes add units of their own to that word, at other times than their own words change. From then on
//    (`mixed`) guards are counted in apart_ as well. The guards in the word are moved there once. The bit is part of the word, so
//    every guard knows whether it was created or dropped before or after. Stripes count instead of apart_, not in addition, and
//    add their counts to apart_ when they are closed.
//
// 7. Ordering table
// id  operation                order            pairs  carries                                          fails in
// Z1  stripes: load            acquire          Z3     the stripes                                      striping_model: stripe_and_guard
// Z3  stripe: CAS              release/relaxed  Z1     the stripes; L11 publishes them to the stop      striping_model: stripe_and_guard
// Z5  turns; stripes: load     relaxed          -      a hint; only whether there are any, or the       (floor)
//                                                     caller has loaded them
// Z6  collapse: fetch_add      relaxed          -      the leave that follows carries the work          (floor)
// Z7  work word, apart         relaxed  -      a number                                         (floor)

namespace roost::inline ROOST_ABI::detail {

namespace {
// Stripe after so many samples from another thread than the previous one; each sample from the same thread subtracts one.
constexpr std::uint32_t turns_to_stripe = 8;
// Stripe a root after so many samples, even if all come from one thread. There are few roots, and counting without locked
// instructions is also faster for one thread.
constexpr std::uint32_t samples_to_stripe = 64;
}  // namespace

#if !defined(ROOST_SEAM_MODEL)
namespace {
// Constructed after the thread's index, so it is destroyed before another thread can get the index.
struct cell_tag;
struct cell_holder {
    bool is_used = false;
    ~cell_holder() { guards_of_this_thread().number = ~0U; }
};
}  // namespace

std::uint32_t thread_guards::find_cell() noexcept {
    const std::uint32_t index = thread_index();
    thread_value<cell_tag, cell_holder>::get().is_used = true;
    number = index + 1;
    return index;
}
#endif

shutdown_node::~shutdown_node() {
    if (stripes* s = stripes_.load(mo::relaxed)) {  // Z5
        s->~stripes();
        deallocate(s, sizeof(stripes), alignof(stripes));
    }
}

bool shutdown_node::try_enter_guard(thread_guards& mine) noexcept {
    if (is_stopping()) {
        return false;
    }
    stripes* s = stripes_.load(mo::acquire);  // Z1
    if (s == nullptr || !s->add(mine.cell(), 1)) {
        bool was_mixed = false;
        if (!try_enter_own(was_mixed)) {
            return false;
        }
        if (was_mixed) {
            apart_.fetch_add(1, mo::relaxed);  // Z7
        }
    }
    for (const node* n = this; n != nullptr; n = n->parent()) {  // after entering: see 5. in shutdown_node.cpp
        if (n->is_stopping()) {
            leave_guard();
            return false;
        }
    }
    return true;
}

// turns_: bits 0-15 the thread of the last sample, plus one; 16-23 changes of thread; 24-31 samples, of a root only.
void shutdown_node::sample(std::uint32_t thread) noexcept {
    if (stripes_.load(mo::relaxed) != nullptr) {  // Z5
        return;
    }
    const std::uint32_t seen = turns_.load(mo::relaxed);  // Z5
    const std::uint32_t mine = (thread & 0x7fffU) + 1;
    std::uint32_t turns = (seen >> 16U) & 0xffU;
    const std::uint32_t samples = (seen >> 24U) + (parent() == nullptr ? 1 : 0);
    if ((seen & 0xffffU) != mine) {
        ++turns;
    } else if (turns > 0) {
        --turns;
    }
    const bool is_due = turns >= turns_to_stripe || samples >= samples_to_stripe;
    const std::uint32_t now = is_due ? mine : samples << 24U | turns << 16U | mine;
    if (now != seen) {
        turns_.store(now, mo::relaxed);  // Z5
    }
    if (is_due) {
        stripe();
    }
}

void shutdown_node::stripe() noexcept {
    if (stripes_.load(mo::relaxed) != nullptr || is_stopping() || !has_heavy_barrier()) {  // Z5
        return;
    }
    void* memory = nullptr;
    try {
        memory = allocate(sizeof(stripes), alignof(stripes));
    } catch (const std::bad_alloc&) {
        return;  // the node stays unstriped
    }
    auto* made = ::new (memory) stripes;
    mix();
    enter();  // for all stripes together
    stripes* none = nullptr;
    if (!stripes_.compare_exchange_strong(none, made, mo::release, mo::relaxed)) {  // Z3
        made->~stripes();
        deallocate(memory, sizeof(stripes), alignof(stripes));
        leave();
        return;
    }
    if (observe_level()) {
        collapse();
    }
}

void shutdown_node::collapse() noexcept {
    stripes& s = *stripes_.load(mo::relaxed);  // Z5
    const bool did = s.close([this](std::int64_t n) noexcept {
        access::work_of(*this).fetch_add(static_cast<work_word>(n) * one_unit, mo::relaxed);  // Z6
        apart_.fetch_add(static_cast<std::uint32_t>(n), mo::relaxed);  // Z6
    });
    if (did) {
        leave();
    }
}

bool shutdown_node::is_striped() const noexcept {
    const stripes* s = stripes_.load(mo::acquire);  // Z1
    return s != nullptr && !s->is_closed();
}

void shutdown_node::mixed(node& n, std::uint32_t guards) noexcept {
    static_cast<shutdown_node&>(n).apart_.fetch_add(guards - not_yet, mo::relaxed);  // Z7
}

std::uint32_t shutdown_node::own_guards() noexcept {
    for (;; yield_thread()) {
        const work_word seen = access::work_of(*this).load(mo::relaxed);  // Z7
        if ((seen & mixed_bit) == 0) {
            return work_state::unpack(seen).units;
        }
        const std::uint32_t apart = apart_.load(mo::relaxed);  // Z7
        if (apart >= most_guards) {
            continue;
        }
        stripes* s = stripes_.load(mo::acquire);  // Z1
        if (s == nullptr) {
            return apart;
        }
        if (s->is_closed()) {
            return apart_.load(mo::relaxed);  // Z7
        }
        const std::optional<std::int64_t> striped = s->try_sum();
        // While striped, only a thread that entered or left before the stripes were published still changes apart_.
        if (striped && apart_.load(mo::relaxed) == apart) {  // Z7
            return static_cast<std::uint32_t>(apart + *striped);
        }
    }
}

std::uint32_t shutdown_node::own_work_of(node& n) noexcept {
    const own_work own = n.functions().own;
    if (own == own_work::units && &n.functions() == &functions_of_shutdown) {
        return static_cast<shutdown_node&>(n).own_guards();
    }
    const work_state seen = work_state::unpack(access::work_of(n).load(mo::relaxed));  // Z7
    if (own == own_work::body) {
        return seen.units != 0 && !seen.closing ? 1 : 0;
    }
    return own == own_work::units ? seen.units : 0;
}

// A scope inside a running job is part of that job, which is counted itself.
bool shutdown_node::may_be_leased(node& n) noexcept {
    if (n.functions().own == own_work::units || !n.was_leased() || !n.has_work()) {
        return false;
    }
    for (node* up = &n; up != nullptr && up->functions().own != own_work::units; up = up->parent()) {
        if (up->functions().own == own_work::body &&
            !work_state::unpack(access::work_of(*up).load(mo::relaxed)).closing) {  // Z7
            return false;
        }
    }
    return true;
}

bool shutdown_node::has_working_child(node& n) noexcept {
    constexpr int most_idle = 64;  // the lock of the list is held
    int idle = 0;
    for (member* m = access::members_of(n).first(); m != nullptr; m = member_list::next_of(*m)) {
        if (m->kind() == member_kind::node && static_cast<node*>(m)->has_work()) {
            return true;
        }
        if (++idle == most_idle) {
            return true;
        }
    }
    return false;
}

// Stripes hold a unit that is no lease; a stopped node gets none.
bool shutdown_node::has_only_leases() noexcept {
    return is_stopping() && !is_striped() && own_guards() == 0 && is_leased(*this);
}

bool shutdown_node::is_leased(node& n) noexcept {
    if (!n.was_leased() || !n.has_work()) {
        return false;
    }
    access::lock_of(n).lock();
    const bool is_alone = !has_working_child(n);
    access::lock_of(n).unlock();
    return is_alone && n.has_work();
}

namespace {

// Sums up a subtree. Children created during the walk would be counted together with guards dropped meanwhile. So a marker at the
// end of each child list stops the walk after the child that was the last at its start.
class guard_counting {
public:
    std::size_t total = 0;

    void begin(node& n) noexcept {
        if (depth_ < ends_.size() && n.functions().mixed != nullptr && n.has_members()) {
            access::members_of(n).push_back(ends_[depth_]);
            is_marked_[depth_] = true;
        }
        if (depth_ < before_.size()) {
            before_[depth_] = total;
        }
        ++depth_;
    }
    look look_at(member& m) noexcept {
        if (m.kind() != member_kind::node) {
            return depth_ <= ends_.size() && &m == &ends_[depth_ - 1] ? look::end : look::skip;
        }
        auto& child = static_cast<node&>(m);
        if (!child.has_work() || (child.functions().is_idle != nullptr && child.functions().is_idle(child))) {
            return look::skip;
        }
        const std::uint32_t own = shutdown_node::own_work_of(child);
        total += own;
        if (child.has_members()) {
            return look::visit;
        }
        total += own == 0 && shutdown_node::may_be_leased(child) ? 1 : 0;
        return look::skip;
    }
    static bool visit(node& /*n*/) noexcept { return true; }
    static bool run(member& /*m*/) noexcept { return false; }
    static void ran(member& /*m*/) noexcept {}
    void finish(node& n) noexcept {
        --depth_;
        if (depth_ < ends_.size() && is_marked_[depth_]) {
            access::members_of(n).erase(ends_[depth_]);
            is_marked_[depth_] = false;
        }
        // Not if something below was counted: it may have ended meanwhile, and its unit here be on its way out.
        if ((depth_ >= before_.size() || before_[depth_] == total) && shutdown_node::may_be_leased(n) &&
            !shutdown_node::has_working_child(n)) {
            ++total;
        }
    }

private:
    using access = node_access;
    static constexpr std::size_t marked_levels = 16;
    std::size_t depth_ = 0;
    std::array<list_marker, marked_levels> ends_;
    std::array<bool, marked_levels> is_marked_{};
    std::array<std::size_t, marked_levels> before_{};  // what was counted before the list of this level
};

}  // namespace

std::size_t shutdown_node::guards_in_subtree() noexcept {
    guard_counting visitor;
    visitor.total = own_guards();
    walker walk(visitor);
    walk.run(*this);
    return visitor.total;
}

}  // namespace roost::inline ROOST_ABI::detail
