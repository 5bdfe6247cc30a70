#pragma once

// What co_await with_scope(...) runs: the node of the scope, and the awaiter that completes when everything in it has ended.

#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/scope.hpp>

#include <cstdint>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

// The node of a with_scope, and the hand-off between the body that has ended and the thread that takes the last unit.
//
// id  operation               order    pairs  carries                                   fails in
// C1  join: exchange          acq_rel  C2     in: what every child did; out: this touch, the last  scope_core_model: last_unit_vs_return,
//                                                                                       last_unit_goes_on_elsewhere
// C3  is waiting: load        relaxed  -      nothing: for a report, which holds a reference                   (floor)
// C2  drained: exchange       acq_rel  C1     the same; `next` has come with the units  scope_core_model: last_unit_goes_on_elsewhere
class scope_block final : public scope_core {
public:
    [[nodiscard]] static scope_block& make(region& parent, node_name name, site made_at, const scope_policy& policy,
                                           executor_ref where = {});

    // Called when the body has returned. Returns true if everything else has ended too, nothing failed, and the block is
    // destroyed.
    [[nodiscard]] bool end_quietly() noexcept;
    // Called when the body has ended. Returns true if everything else has ended too. Otherwise `next` runs, in the body, when
    // it has.
    [[nodiscard]] bool join(continuation& next) noexcept;

    // Returns the block that the node is, or null.
    [[nodiscard]] static const scope_block* from(const node& n) noexcept {
        return &n.functions() == &functions ? static_cast<const scope_block*>(static_cast<const region*>(&n)) : nullptr;
    }
    // Returns true from the end of the body until everything else has ended too.
    [[nodiscard]] bool is_joining() const noexcept { return stage_.load(mo::relaxed) == stage::waiting; }  // C3

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    scope_block(region& parent, node_name name, site made_at, const scope_policy& policy, executor_ref where)
        : scope_core(functions, parent, name, made_at, policy, where) {}
    static void destroy(node& self) noexcept { delete &static_cast<scope_block&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;

    static const node_functions functions;
    enum class stage : std::uint32_t { open, waiting, empty };
    atomic<stage> stage_{stage::open};
    plain<continuation*> next_{nullptr};
};

class inner_scope final : public scope {
public:
    explicit inner_scope(scope_core& core, std::uint32_t limit = 0) : scope(core, limit) {}
};

template <class T, class Call, transfer Mode>
class scope_await final : public boundary_base<scope_await<T, Call, Mode>, T, Mode>, private continuation {
    using boundary = boundary_base<scope_await, T, Mode>;

public:
    scope_await(promise_base& me, Call& call, const scope_policy& policy, std::uint32_t limit = 0) noexcept
        : boundary(me), continuation(go_on), call_(&call), policy_(&policy), limit_(limit) {}
    ~scope_await() {
        if (block_ != nullptr) {
            block_->release();
        }
    }

    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        promise_base& me = this->me();
        if (this->is_cancelled()) [[unlikely]] {
            return this->unwind();
        }
        block_ = &scope_block::make(me.region(), call_->name(), call_->site(), *policy_);
        next_step then = next_step::nothing();
        try {
            scope_.emplace(*block_, limit_);
            promise_base& child = task_access::start(*call_, *scope_);
            child.attach(*this, *block_);
            then = next_step::resume(child);
        } catch (...) {
            this->fail(std::current_exception());
            reason none;
            then = ended(ending::threw, none);
        }
        if (then.is_unwind()) [[unlikely]] {
            unwind_frame(me, this->why());
        } else if (then.frame() != nullptr) [[likely]] {
            return this->start(*then.frame());
        }
        return transfer_to<Mode>::none();
    }

private:
    friend class boundary_link<scope_await, T>;
    next_step ended(ending how, reason& why) noexcept {
        if (how == ending::returned && block_->end_quietly()) [[likely]] {
            block_ = nullptr;
            return next_step::resume(this->me());
        }
        if (how == ending::threw) {
            block_->body_failed(this->error(), job_of(this->me()).take_carried(this->error()));
        } else if (how == ending::cancelled) {
            const bool was_cancelled = block_->is_cancelled();
            why = was_cancelled ? block_->why() : why;
            this->settle_cancelled(why);
            if (!was_cancelled) {  // else its children are cancelled already, and a reason of its own would hide that of why()
                block_->node::cancel(std::move(why));
            }
        }
        return block_->join(*this) ? finish() : next_step::nothing();
    }
    static next_step go_on(continuation& c) noexcept { return static_cast<scope_await&>(c).finish(); }

    next_step finish() noexcept {
        promise_base& me = this->me();
        if (std::exception_ptr first = block_->first_failure()) {
            job_of(me).carry(first, block_->take_other_failures());
            this->fail(std::move(first));
            return next_step::resume(me);
        }
        if (this->state() == ending::cancelled) {
            runner::of_this_thread().why = this->why();
            return next_step::unwind(me);
        }
        if (me.region().is_cancelled_relaxed() && !block_->is_whole()) [[unlikely]] {
            region::note_cut_short(me.region());
        }
        return next_step::resume(me);
    }

    Call* call_;
    const scope_policy* policy_;
    std::uint32_t limit_;
    scope_block* block_ = nullptr;
    std::optional<inner_scope> scope_;
};

}  // namespace roost::inline ROOST_ABI::detail
