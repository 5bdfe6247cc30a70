#pragma once

#include <roost/shutdown/detail/stripes.hpp>
#include <roost/shutdown/detail/thread_guards.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/tree/detail/node_access.hpp>
#include <roost/tree/node.hpp>

#include <cstdint>

// The node behind shutdown handles: a tree node, who owns it, and who waits for it. src/shutdown/shutdown_node.cpp explains.

namespace roost::inline ROOST_ABI::detail {

// Owners of a node: handles, and pins (unresolved completions, and child nodes that are not gone).
using owner_word = std::uint64_t;
inline constexpr owner_word one_handle = 1;
inline constexpr owner_word one_pin = owner_word(1) << 32;
inline constexpr owner_word gone_mark = owner_word(1) << 63;
inline constexpr owner_word handle_mask = one_pin - 1;
// Half of what the fields hold: threads that are past the check and before the panic still have room.
inline constexpr owner_word handle_limit = owner_word(1) << 31;
inline constexpr owner_word pin_limit = owner_word(1) << 30;

enum class wait_for : std::uint8_t { stop, completion };

// A waiter that says which of the two it waits for.
class shutdown_waiter : public waiter {
public:
    explicit shutdown_waiter(wait_for what) noexcept : what_(what) {}
    shutdown_waiter(shutdown_waiter&& other) noexcept = default;
    [[nodiscard]] wait_for what() const noexcept { return what_; }

protected:
    shutdown_waiter(thread_tag tag, work::run_function unpark, wait_for what) noexcept : waiter(tag, unpark), what_(what) {}

private:
    wait_for what_;
};

class shutdown_node final : public node {
public:
    // Both give the caller one handle.
    [[nodiscard]] static shutdown_node* make_root(node_name name, site made_at);
    [[nodiscard]] static shutdown_node* make_child(shutdown_node& parent, node_name name, site made_at);

    // --- owners ------------------------------------------------------------------------------------------------------
    void add_handle() noexcept;
    void drop_handle() noexcept;  // the last one of a root stops it
    void add_pin() noexcept;
    void drop_pin() noexcept { drop_owner(this, one_pin); }

    // --- work --------------------------------------------------------------------------------------------------------
    // As enter() and leave(), counted per thread while the node is striped.
    void enter_guard(thread_guards& mine) noexcept {
        stripes* s = stripes_.load(mo::acquire);  // Z1
        if ((s == nullptr || !s->add(mine.cell(), 1)) && enter_own()) {
            apart_.fetch_add(1, mo::relaxed);  // H11
        }
    }
    void leave_guard() noexcept {
        stripes* s = stripes_.load(mo::acquire);  // Z1
        if ((s == nullptr || !s->add(guards_of_this_thread().cell(), -1)) && !leave_unmixed()) {
            apart_.fetch_sub(1, mo::relaxed);  // H11
            leave();  // the node may go with it
        }
    }
    // Refused from stop on, also while the stop of an ancestor is still on its way here.
    [[nodiscard]] bool try_enter_guard(thread_guards& mine) noexcept;
    // By an owner, now and then: when different threads take turns, and when a root is busy, the node becomes striped.
    void sample(std::uint32_t thread) noexcept;
    // By an owner: counts per thread from now on, where the machine can and the node is not stopped.
    void stripe() noexcept;
    // Everything is in the node's own word when this returns.
    void settle() noexcept {
        if (stripes_.load(mo::acquire) != nullptr) [[unlikely]] {  // Z1
            collapse();
        }
    }
    [[nodiscard]] bool is_striped() const noexcept;
    // Guards of this node alone, at one moment of the call. Waits for a thread that is just moving the counts.
    [[nodiscard]] std::uint32_t own_guards() noexcept;
    // Guards and other work of a node's own, children not included: of any kind of node.
    [[nodiscard]] static std::uint32_t own_work_of(node& n) noexcept;
    // The sum of own_work_of() of the subtree, without nodes that are made meanwhile.
    [[nodiscard]] std::size_t guards_in_subtree() noexcept;

    // --- observing ---------------------------------------------------------------------------------------------------
    // Asked to stop, or nobody can ask any more: what an interrupt looks at. One load.
    [[nodiscard]] bool is_terminal() const noexcept {
        return (access::level_of(const_cast<shutdown_node&>(*this)).load(mo::acquire) & (raised_mask | gone_bit)) !=
               0;  // H1
    }
    // Stopped, and nothing left; nobody gets in by try_enter_guard() any more once this has said yes.
    [[nodiscard]] bool is_complete() noexcept {
        if (!is_stopping()) {
            return false;
        }
        work_word seen = access::work_of(*this).load(mo::acquire);  // H9
        if (seen < one_unit && (seen & watched_bit) == 0) {
            seen = access::work_of(*this).fetch_or(watched_bit, mo::acq_rel);  // H10
        }
        return seen < one_unit;
    }

    // --- waiting -----------------------------------------------------------------------------------------------------
    [[nodiscard]] bool holds(wait_for what) noexcept { return what == wait_for::stop ? is_terminal() : is_complete(); }
    [[nodiscard]] bool enqueue(shutdown_waiter& w) noexcept;  // false: no need to wait
    [[nodiscard]] bool cancel_wait(waiter& w, claim as) noexcept;

private:
    friend struct shutdown_node_owners;  // tests begin near the limits
    using access = detail_node_access;

    explicit shutdown_node(node_name name, site made_at);
    shutdown_node(shutdown_node& parent, node_name name, site made_at);
    ~shutdown_node();
    void collapse() noexcept;

    static void destroy(node& n) noexcept;
    static void level_raised(node& n, level now) noexcept;
    static bool drained(node& n) noexcept;
    static void mixed(node& n, std::uint32_t guards) noexcept;
    static const node_functions functions_of_shutdown;

    static void drop_owner(shutdown_node* n, owner_word what) noexcept;
    [[nodiscard]] bool try_go() noexcept;
    void tell_interrupts() noexcept;
    void wake_for_stop() noexcept;
    bool wake_if_complete() noexcept;

    atomic<owner_word> owners_;
    wait_list waiters_;
    atomic<stripes*> stripes_{nullptr};
    atomic<std::uint32_t> turns_{0};  // see sample()
    // Guards, once there are children or stripes; so many more than this before they have been put in, give or take what threads
    // just add and take away.
    static constexpr std::uint32_t not_yet = 0xc000'0000U;
    static constexpr std::uint32_t most_guards = 0xa000'0000U;
    static_assert(unit_limit < most_guards);
    atomic<std::uint32_t> apart_{not_yet};
};

#if defined(ROOST_SEAM_NATIVE)
static_assert(sizeof(shutdown_node) <= 144, "thousands of connections have one each");
#endif

}  // namespace roost::inline ROOST_ABI::detail
