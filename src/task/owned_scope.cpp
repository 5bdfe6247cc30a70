#include <roost/task/owned_scope.hpp>

#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/exec/detail/limited_thread.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/detail/passing_callback.hpp>
#include <roost/tree/visit.hpp>

// id  operation    order    pairs  carries                              fails in
// Q1  is_observed_ seq_cst  -      that a closer was given the failure  (no model: closers end before the scope)

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace ext;

using namespace seam;

namespace {

class pass_on {
public:
    pass_on(detail::root_block& to, const token& from, level what) noexcept : to_(&to), from_(from), what_(what) {}
    void operator()() const noexcept {
        (what_ == level::cancel ? to_->cancel_turn : to_->abort_turn)
            .raise(*to_, what_, detail::tree_access::target_of(from_)->why(what_));
    }

private:
    detail::root_block* to_;
    token from_;
    level what_;
};

// No cancel and no abort takes the body out of it. It is in the region's wait slot only to be shown in reports, as a foreign
// await is: it goes in before the wait is published, and the body itself takes it out.
class until_ended final : private detail::cancellable {
public:
    until_ended(detail::promise_base& me, detail::root_block& block) noexcept
        : cancellable(me, functions), block_(&block), wait_(&block.ended) {}

    [[nodiscard]] bool await_ready() noexcept { return wait_.await_ready(); }
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        static_cast<void>(frame().region().commit(*this));
        suspended_ = true;
        return wait_.await_suspend(self);
    }
    void await_resume() noexcept {
        if (suspended_) {
            frame().region().disarm(*this);
        }
        wait_.await_resume();
    }

private:
    static wait_target label_of(const cancellable& self) noexcept {
        return {"end of owned scope", static_cast<const until_ended&>(self).block_->name()};
    }
    static constexpr detail::wait_functions functions{+[](cancellable&) noexcept { return false; }, &label_of, true};

    detail::root_block* block_;
    event::operation wait_;
    bool suspended_ = false;
};

class until_ended_call {
public:
    explicit until_ended_call(detail::root_block& block) noexcept : block_(&block) {}
    [[nodiscard]] until_ended in_task(detail::promise_base& me) const noexcept { return until_ended(me, *block_); }

private:
    detail::root_block* block_;
};

}  // namespace

owned_scope::owned_scope(executor_ref where, const scope_options& options)
    : owned_scope(detail::root_block::owned(where, options.name(), options.site(), detail::policy_of(options.failures())),
                  options.limit()) {}

owned_scope::owned_scope(const node& parent, executor_ref where, const scope_options& options)
    : owned_scope(detail::root_block::below(detail::tree_access::core_of(parent), where, options.name(), options.site(),
                                            detail::policy_of(options.failures())),
                  options.limit()) {}

owned_scope::owned_scope(detail::root_block* block, std::uint32_t limit) try : scope(*block, limit), block_(block) {
} catch (...) {
    block->close();
    block->release();
}

owned_scope::~owned_scope() {
    if (!is_closed()) {
        detail::write_stderr(to_string(), std::chrono::seconds(1));
        detail::panic("owned scope", block_->name(), block_->made_at(),
                      "it was destroyed before a close() had completed; await close(), or call close_blocking(), before the "
                      "object ends");
    }
    if (!is_observed_.load(mo::seq_cst) && block_->first_failure()) {  // Q1
        report_failure("a child of owned scope", block_->name(), block_->made_at(), block_->first_failure());
    }
    block_->report_other_failures();
    block_->release();
}

std::string owned_scope::to_string() const {
    std::string text = tree_to_string(*block_);
    if (const auto daemons = block_->daemons()) {
        text += tree_to_string(*daemons);
    }
    return text;
}

task<> owned_scope::close() {
    block_->refuse_wait_from_inside();
    block_->close();
    const token outer = co_await this_token();
    {
        const detail::passing_callback<pass_on> cancelled(outer, level::cancel, pass_on(*block_, outer, level::cancel));
        const detail::passing_callback<pass_on> aborted(outer, level::abort, pass_on(*block_, outer, level::abort));
        co_await until_ended_call(*block_);
    }
    const job me = co_await this_job();
    detail::task_access::core_of(me)->carry(block_->first_failure(), block_->take_other_failures());
    rethrow();
}

void owned_scope::close_blocking_on(executor_ref where) {
    block_->close();
    block_->refuse_to_block("close_blocking()", where);
    detail::wait_for_task(block_->ended);
    block_->report_other_failures();
    rethrow();
}

void owned_scope::rethrow() {
    is_observed_.store(true, mo::seq_cst);  // Q1
    if (std::exception_ptr first = block_->first_failure()) {
        std::rethrow_exception(std::move(first));
    }
}

}  // namespace roost::inline ROOST_ABI
