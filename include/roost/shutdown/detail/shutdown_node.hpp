#pragma once

// Orders H1 to H11: src/shutdown/shutdown_node.cpp.
// Order Z1: src/shutdown/striping.cpp.

#include <roost/shutdown/detail/stripes.hpp>
#include <roost/shutdown/detail/thread_guards.hpp>
#include <roost/sync/detail/wait_list.hpp>
#include <roost/tree/detail/node.hpp>
#include <roost/tree/detail/node_access.hpp>

#include <cstdint>

// The node behind shutdown handles: a tree node with owners and waiters. Explained in src/shutdown/shutdown_node.cpp.

namespace roost::inline ROOST_ABI::detail {

// Owners of a node: handles, and pins (unresolved completions, and child nodes that are not gone).
using owner_word = std::uint64_t;
inline constexpr owner_word one_handle = 1;
inline constexpr owner_word one_pin = owner_word(1) << 32;
inline constexpr owner_word gone_mark = owner_word(1) << 63;
inline constexpr owner_word handle_mask = one_pin - 1;
// Half of the fields' range: threads between the increment and the panic do not overflow it.
inline constexpr owner_word handle_limit = owner_word(1) << 31;
inline constexpr owner_word pin_limit = owner_word(1) << 30;

enum class wait_for : std::uint8_t { stop, completion };

// A waiter for stop or for completion.
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
    // Both return a node with one handle, which the caller owns.
    [[nodiscard]] static shutdown_node* make_root(node_name name, site made_at);
    [[nodiscard]] static shutdown_node* make_child(shutdown_node& parent, node_name name, site made_at);

    // --- owners ------------------------------------------------------------------------------------------------------
    void add_handle() noexcept;
    void drop_handle() noexcept;  // the last handle of a root stops the node
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
            leave();  // this may free the node
        }
    }
    // Returns false if the node or an ancestor is stopped, also while that stop is still on its way here.
    [[nodiscard]] bool try_enter_guard(thread_guards& mine) noexcept;
    // Called by an owner for every 64th guard. Stripes the node if threads alternate, or if a root is busy.
    void sample(std::uint32_t thread) noexcept;
    // Called by an owner. Counts per thread from now on. No effect without membarrier, without memory, or on a stopped node.
    void stripe() noexcept;
    // Closes the stripes. All guards are counted in the node's own word when this returns.
    void settle() noexcept {
        if (stripes_.load(mo::acquire) != nullptr) [[unlikely]] {  // Z1
            collapse();
        }
    }
    [[nodiscard]] bool is_striped() const noexcept;
    // Returns the guards of this node alone, at one moment of the call. Yields until a thread that moves the counts is done.
    [[nodiscard]] std::uint32_t own_guards() noexcept;
    // Returns a node's own guards and other work, without its children. n may be any kind of node.
    [[nodiscard]] static std::uint32_t own_work_of(node& n) noexcept;
    // Returns true if n is a job or scope with work and no running body: then leases hold it, unless a child has work.
    [[nodiscard]] static bool may_be_leased(node& n) noexcept;
    // Requires the lock of n's list. Looks at the first children; returns true if there are more.
    [[nodiscard]] static bool has_working_child(node& n) noexcept;
    // Returns true if n has work and no child has. Takes the lock of n's list.
    [[nodiscard]] static bool is_leased(node& n) noexcept;
    // Returns true if this node is stopped and has work, but no guard, and no child has work.
    [[nodiscard]] bool has_only_leases() noexcept;
    // Returns the sum of own_work_of() over the subtree, and one per job or scope that only leases hold, without nodes created
    // during the call (to the sixteenth generation).
    [[nodiscard]] std::size_t guards_in_subtree() noexcept;

    // --- observing ---------------------------------------------------------------------------------------------------
    // Returns true if the node is stopped, or gone and therefore can't be stopped. Checked by interrupts. One load.
    [[nodiscard]] bool is_terminal() const noexcept {
        return (access::level_of(const_cast<shutdown_node&>(*this)).load(mo::acquire) & (raised_mask | gone_bit)) !=
               0;  // H1
    }
    // Returns true if the node is stopped and has no work. After it has returned true, try_enter_guard() always fails.
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
    [[nodiscard]] bool enqueue(shutdown_waiter& w) noexcept;  // returns false if there is nothing to wait for
    [[nodiscard]] bool cancel_wait(waiter& w, claim as) noexcept;

private:
    friend struct shutdown_node_owners;  // tests start near the limits
    using access = node_access;

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
    void notify_interrupts() noexcept;
    void wake_for_stop() noexcept;
    bool wake_if_complete() noexcept;

    atomic<owner_word> owners_;
    wait_list waiters_;
    atomic<stripes*> stripes_{nullptr};
    atomic<std::uint32_t> turns_{0};  // see sample()
    // The number of guards, once the node has children or stripes. Until the first guards are moved here, the value is not_yet
    // plus concurrent changes, so it is at least most_guards.
    static constexpr std::uint32_t not_yet = 0xc000'0000U;
    static constexpr std::uint32_t most_guards = 0xa000'0000U;
    static_assert(unit_limit < most_guards);
    atomic<std::uint32_t> apart_{not_yet};
};

#if defined(ROOST_SEAM_NATIVE)
static_assert(sizeof(shutdown_node) <= 144, "a server has one per connection, so its size matters");
#endif

}  // namespace roost::inline ROOST_ABI::detail
