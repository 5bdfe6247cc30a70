#pragma once

// Order D1: src/tree/deadline.cpp.
// Orders N5, N6, W4: src/tree/node.cpp.
// Orders L1 to L14: src/tree/raise.cpp.
// Order Y3: src/tree/why.cpp.
// Orders W1 to W5: src/tree/work_count.cpp.

#include <roost/base/clock.hpp>
#include <roost/base/reason.hpp>
#include <roost/base/site.hpp>
#include <roost/tree/detail/level_state.hpp>
#include <roost/tree/detail/member.hpp>
#include <roost/tree/detail/work_state.hpp>
#include <roost/tree/node_name.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

// The one node type. Jobs, scopes, shutdown handles and pools are views of it. A view derives from node (or holds it first),
// lives in the same block, and has a table of functions that the node calls.
//
// Levels go down: raise() latches the whole subtree before it returns. Work is counted up: enter() returns when every
// ancestor counts the unit. A node keeps its parent's memory alive; a parent never keeps its children's.

namespace roost::inline ROOST_ABI::observe {
struct node_description;
}

namespace roost::inline ROOST_ABI::detail {

class node;

// How a node's own units are counted as work.
enum class own_work : std::uint8_t {
    units,  // each unit is one
    body,  // one for the body, until it has ended
    none,  // bookkeeping: part of a job that is counted itself
};

// The functions of a view. A null entry is not called. All are called outside every lock, on the thread that caused the
// event, and must be short: claim and post.
struct node_functions {
    const char* kind = "node";
    // Called when the last reference and the last unit are gone; the node is out of the tree. Destroys the view and frees its
    // block.
    void (*destroy)(node&) noexcept = nullptr;
    // Called when the effective level has risen, once per node and level. Two threads may call it for two levels at the same
    // time, so read level_now(). The node stays in memory during the call, but its last reference may be gone: use
    // try_retain().
    void (*level_raised)(node&, level now) noexcept = nullptr;
    // While it is true, level_raised is called for unobserved nodes as well. For tracing.
    const atomic<bool>* raises_unobserved = nullptr;
    // Called when the units reach zero while the node is watched or closing. For a closing node exactly once. For a watched
    // node once per crossing; two threads may call it for two crossings at the same time. The ancestors still count the node.
    // Returns true if the node is finished. After false the view calls finish_drain() when it is done.
    bool (*drained)(node&) noexcept = nullptr;
    // Adds facts that only the view knows to a report.
    void (*describe)(const node&, node_description&) noexcept = nullptr;
    // Returns the time by the clock that the node's deadlines use. Called while the node has work. Null: the monotonic clock.
    time_point (*clock)(const node&) noexcept = nullptr;
    // For a view that counts its own units separately as soon as there are others. Called once, before the first child or the
    // first unit that is not the view's own. units: how many there were, all of them the view's own.
    void (*mixed)(node&, std::uint32_t units) noexcept = nullptr;
    // Returns true if the node is kept for reuse: units of it and of the nodes below are no work. Null: never.
    bool (*is_idle)(const node&) noexcept = nullptr;
    own_work own = own_work::units;
};

// The kind of child that attach() makes.
enum class child_kind : std::uint8_t {
    idle,  // has no work of its own yet; delays no ancestor
    working,  // starts with one unit, which the ancestors count before attach() returns
};
enum class admission : std::uint8_t {
    outsider,  // refused from close() on
    member,  // the caller holds a unit of the parent: refused only by a closed parent
};
enum class [[nodiscard]] attached : std::uint8_t {
    yes,
    refused,  // the parent is closing or closed: nothing happened
    twice,  // the node is in the tree already: nothing happened
};

struct node_shape {
    bool shield = false;  // delays a cancel from above
    bool mark = false;  // for the view's own use, see is_marked()
    bool unobserved = false;  // level_raised is not called for levels from above until observe_level()
};

class node : public member {
public:
    // Makes a root. Throws std::bad_alloc if the name has to be copied and there is no memory. The caller holds one
    // reference.
    node(const node_functions& functions, node_name name, site made_at, node_shape shape = {})
        : node(functions, nullptr, name, made_at, shape, one_reference | announced_bit) {}
    // Makes a child. It is not in the tree until attach() returns yes.
    node(const node_functions& functions, node& parent, node_name name, site made_at, node_shape shape = {})
        : node(functions, &parent, name, made_at, shape, one_reference) {}

    // Puts this child in the tree, as the last step of its construction; from now on its functions may be called. A child of
    // a stopped node is born stopped, of a cancelled one born cancelled. level_raised is not called for that: read
    // level_now(). If it returns refused, the caller destroys the child with discard().
    attached attach(child_kind kind, admission as = admission::outsider) noexcept;
    // Destroys a child that was never attached, or was refused.
    void discard() noexcept;

    // --- level -----------------------------------------------------------------------------------------------------
    // Raises the level of this node and everything below, and returns when all of it is latched. Thread-safe.
    bool raise(level to, reason why) noexcept;  // true: this call was the first to request the level
    void stop(reason why = reason::plain_kind(reason_kind::requested)) noexcept { raise(level::stop, std::move(why)); }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { raise(level::cancel, std::move(why)); }
    void abort(reason why = reason::plain_kind(reason_kind::requested)) noexcept { raise(level::abort, std::move(why)); }

    // Returns the effective level. One plain load.
    [[nodiscard]] level level_now() const noexcept { return effective_level(level_.load(mo::acquire)); }  // L1
    // Returns true if a cancel was requested, also while an ignore guard delays it.
    [[nodiscard]] bool cancel_requested() const noexcept {
        return (level_.load(mo::acquire) & cancel_bits) != 0;  // L1
    }
    // Returns true if cancel has effect.
    [[nodiscard]] bool is_cancelled() const noexcept { return detail::is_cancelled(level_.load(mo::acquire)); }  // L1
    // As above without acquire: for polling, when nothing the canceller wrote is read.
    [[nodiscard]] bool is_cancelled_relaxed() const noexcept {
        return detail::is_cancelled(level_.load(mo::relaxed));  // L2
    }
    [[nodiscard]] bool is_stopping() const noexcept {
        return (level_.load(mo::acquire) & raised_mask) != 0;  // L1
    }
    // Returns why the node is at least at l; empty if it is below. Allocates nothing.
    [[nodiscard]] reason why(level l) const noexcept;
    // Returns the node at which that reason was given; null if this node is below l.
    [[nodiscard]] const node* origin(level l) const noexcept;
    // Returns why() with the origin's name filled in; without the name if there is no memory for it.
    [[nodiscard]] reason why_with_origin(level l) const noexcept;

    // Enters an ignore guard. Called only by the body that owns the node, as is leave_ignore(). Returns false if cancel has
    // effect.
    [[nodiscard]] bool enter_ignore() noexcept;
    void leave_ignore() noexcept;  // leaving the outermost guard carries out a deferred cancel
    // Called for each lease, after its unit was entered. Reports tell leases by it from units that are on their way out.
    void note_lease() noexcept {
        if (!was_leased()) {
            level_.fetch_or(leased_bit, mo::relaxed);  // L13
        }
    }
    [[nodiscard]] bool was_leased() const noexcept { return (level_.load(mo::relaxed) & leased_bit) != 0; }  // L2
    // Called with a reference, or by a walker that stands on the node. From now on it can be found by its id (node_ids.hpp), so
    // its end is committed to its own word.
    void set_identified() noexcept { level_.fetch_or(identified_bit, mo::relaxed); }  // L14
    [[nodiscard]] bool is_identified() const noexcept { return (level_.load(mo::relaxed) & identified_bit) != 0; }  // L2
    // Called when the last owner is gone. Observers see is_gone() from now on.
    void mark_gone() noexcept;
    [[nodiscard]] bool is_gone() const noexcept { return (level_.load(mo::acquire) & gone_bit) != 0; }  // L1
    [[nodiscard]] bool is_shield() const noexcept { return detail::is_shield(level_.load(mo::relaxed)); }  // L2

    // --- work ------------------------------------------------------------------------------------------------------
    // Adds a unit. Requires that the node never closes, or that the caller holds a unit. All other callers use try_enter().
    void enter() noexcept { static_cast<void>(enter_own()); }
    [[nodiscard]] bool try_enter() noexcept;  // false from close() on and at the limit
    // Adds a unit to a node that may be closing, and so delays its end. Returns false if it is closed, and at the limit.
    [[nodiscard]] bool try_enter_as_member() noexcept;
    void leave() noexcept {
        work_word seen = work_.load(mo::relaxed);  // W4
        const bool is_root = parent_ == nullptr;
        while (leaves_quietly(seen, is_root)) [[likely]] {
            if (work_.compare_exchange_weak(seen, seen - one_unit, mo::release, mo::relaxed)) {  // W2
                return;
            }
        }
        static_cast<void>(leave_last(seen, 0));
    }
    // From now on only members add work. The last unit to leave closes the node for ever and drains it. Returns false if the
    // node was closing already.
    bool close() noexcept;
    void close_and_leave() noexcept;  // the body's last step: both in one
    // As close_and_leave(), if nothing is left but this unit and `references` of the caller's own. Takes the node out of the
    // tree, destroys it without calling drained(), and gives the parent's unit and reference back in one step. Returns false
    // if there is more; nothing has happened then.
    [[nodiscard]] bool end_alone(std::uint32_t references) noexcept;
    // Returns true if nothing is left but one unit and so many references. What other threads did before is then visible.
    [[nodiscard]] bool is_alone(std::uint32_t references) const noexcept {
        return work_.load(mo::acquire) == alone_with(references);  // W5
    }
    void watch() noexcept;  // drained() is called at every crossing to zero from now on
    void finish_drain() noexcept;  // see node_functions::drained
    [[nodiscard]] bool has_work() const noexcept { return (work_.load(mo::acquire) >> 32U) != 0; }  // W5
    [[nodiscard]] bool is_closing() const noexcept { return (work_.load(mo::acquire) & closing_bit) != 0; }  // W5
    [[nodiscard]] bool is_closed() const noexcept { return (work_.load(mo::acquire) & closed_bit) != 0; }  // W5
    // Returns the units of this node alone, at one moment: its own and one per child with work. A thread that is just adding
    // the first work below counts as one more.
    [[nodiscard]] std::uint32_t units() const noexcept {
        return static_cast<std::uint32_t>(work_.load(mo::acquire) >> 32U);  // W5
    }
    // Returns the units in the subtree, without announcements. Exact at rest only. O(subtree).
    [[nodiscard]] std::size_t work_in_subtree() const noexcept;

    // --- memory ----------------------------------------------------------------------------------------------------
    void retain() noexcept {  // requires a reference or a unit
        const work_word before = work_.fetch_add(one_reference, mo::relaxed);  // N5
        if ((before & reference_limit * one_reference) != 0) [[unlikely]] {
            too_many_references();
        }
    }
    // For callers that were only shown the node (level_raised, visit). Returns false if its last reference is gone.
    [[nodiscard]] bool try_retain() noexcept;
    void release() noexcept {
        const work_word before = work_.fetch_sub(one_reference, mo::acq_rel);  // N6
        if (dies_with_reference(before)) {
            dispose();
        }
    }
    // Leaves the parent's list before the memory is freed, for a finished job with handles left. No level reaches the node
    // any more.
    void unlink_early() noexcept;

    // --- deadline (tree/detail/deadline.hpp changes it) ------------------------------------------------------------------
    // Returns the earliest deadline from this node upwards, up to a shield.
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load(mo::relaxed)));  // D1
    }

    // --- facts -----------------------------------------------------------------------------------------------------
    [[nodiscard]] node* parent() const noexcept { return parent_; }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] const char* name_text() const noexcept { return name_; }
    [[nodiscard]] bool has_literal_name() const noexcept { return (traits_ & name_is_owned) == 0; }
    [[nodiscard]] site made_at() const noexcept { return made_at_; }
    [[nodiscard]] const node_functions& functions() const noexcept { return *functions_; }
    [[nodiscard]] bool has_members() const noexcept { return !members_.is_empty_now(); }

protected:
    // --- for a view that counts its own units separately (node_functions::mixed) ------------------------------------------------
    // As enter(). Returns true if other units are counted here already.
    bool enter_own() noexcept {
        const work_word before = work_.fetch_add(one_unit, mo::acquire);  // W1
        if ((before & announced_bit) == 0 || before >= unit_limit * one_unit) [[unlikely]] {
            enter_slow(before);
        }
        return (before & mixed_bit) != 0;
    }
    // As try_enter(). Sets was_mixed to true if other units are counted here already.
    [[nodiscard]] bool try_enter_own(bool& was_mixed) noexcept;
    // As leave(). Returns false, and does nothing, if other units are counted here.
    [[nodiscard]] bool leave_unmixed() noexcept {
        work_word seen = work_.load(mo::relaxed);  // W4
        const bool is_root = parent_ == nullptr;
        while ((seen & mixed_bit) == 0 && leaves_quietly(seen, is_root)) [[likely]] {
            if (work_.compare_exchange_weak(seen, seen - one_unit, mo::release, mo::relaxed)) {  // W2
                return true;
            }
        }
        return leave_last(seen, mixed_bit);
    }
    // Other units are counted here from now on.
    void mix() noexcept;

    [[nodiscard]] bool is_marked() const noexcept { return (traits_ & is_marked_by_view) != 0; }
    // For a node born unobserved. From now on level_raised is called for it, and sees what the caller did before. Returns
    // true if a level was raised already; the caller handles that level itself.
    bool observe_level() noexcept {
        return (level_.fetch_and(~unobserved_bit, mo::acq_rel) & raised_mask) != 0;  // L11
    }
    ~node() {  // called only by node_functions::destroy and discard
        ROOST_ASSERT(members_.is_empty(), "I5: a node was destroyed with members in its list");
        if (!has_literal_name() || why_.load(mo::relaxed) != nullptr || is_identified()) {  // Y3
            destroy_details();
        }
    }

private:
    friend struct node_access;

    static constexpr std::uint8_t name_is_owned = 1;
    static constexpr std::uint8_t is_marked_by_view = 2;
    static constexpr std::uint8_t was_attached = 4;
    static constexpr level_word cancel_bits = raised_bit(level::cancel) | raised_bit(level::abort);

    node(const node_functions& functions, node* parent, node_name name, site made_at, node_shape shape, work_word work)
        : member(member_kind::node),
          level_(heeding_bit | (shape.shield ? shield_bit : 0) | (shape.unobserved ? unobserved_bit : 0)),
          parent_(parent),
          functions_(&functions),
          work_(work),
          deadline_(no_deadline.time_since_epoch().count()),
          made_at_(made_at),
          traits_(shape.mark ? is_marked_by_view : 0) {
        if (name.is_literal()) [[likely]] {
            name_ = name.text().data();
        } else {
            copy_name(name);
        }
    }

    void enter_slow(work_word before) noexcept;
    [[noreturn]] void too_many_references() const noexcept;
    void dispose() noexcept;
    void destroy_details() noexcept;
    bool leave_last(work_word seen, work_word unless) noexcept;
    work_action leave_commit(work_word seen, work_word unless) noexcept;
    bool announce() noexcept;
    void after_work(node* up, work_action action) noexcept;
    void leave_with_child() noexcept;
    void copy_name(node_name name);
    bool latch_own(level to, reason& why, level_word& before) noexcept;
    const node* origin_of(level at) const noexcept;
    void spread(level to) noexcept;

    atomic<level_word> level_;
    node* const parent_;
    const node_functions* const functions_;
    member_list members_;
    atomic<work_word> work_;
    atomic<std::int64_t> deadline_;
    atomic<void*> why_{nullptr};  // see src/tree/why.cpp
    const char* name_ = "";
    const site made_at_;
    mutable small_mutex lock_;
    std::uint8_t ignore_depth_ = 0;  // only the owning body; beyond 255: src/tree/deep_ignores.hpp
    std::uint8_t traits_ = 0;  // constant once attached; two small fields of a view fit behind it
};

#if defined(ROOST_SEAM_NATIVE)
static_assert(sizeof(node) <= 96, "a job's bookkeeping beyond its frame has to fit in 128 bytes");
#endif

// A counted pointer to a node or a view of it.
template <class View = node>
class node_ref {
public:
    constexpr node_ref() noexcept = default;
    // Takes over a reference that the caller holds.
    [[nodiscard]] static node_ref adopt(View* target) noexcept { return node_ref(target); }
    [[nodiscard]] static node_ref share(View& target) noexcept {
        target.retain();
        return node_ref(&target);
    }
    // Returns an empty node_ref if the last reference is gone.
    [[nodiscard]] static node_ref try_share(View& target) noexcept {
        return target.try_retain() ? node_ref(&target) : node_ref();
    }
    node_ref(const node_ref& other) noexcept : target_(other.target_) {
        if (target_ != nullptr) {
            target_->retain();
        }
    }
    node_ref(node_ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
    node_ref& operator=(node_ref other) noexcept {
        std::swap(target_, other.target_);
        return *this;
    }
    ~node_ref() {
        if (target_ != nullptr) {
            target_->release();
        }
    }

    [[nodiscard]] View* get() const noexcept { return target_; }
    [[nodiscard]] View& operator*() const noexcept { return *target_; }
    [[nodiscard]] View* operator->() const noexcept { return target_; }
    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
    [[nodiscard]] View* release_to_caller() noexcept { return std::exchange(target_, nullptr); }
    friend bool operator==(const node_ref&, const node_ref&) noexcept = default;

private:
    explicit node_ref(View* target) noexcept : target_(target) {}
    View* target_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
