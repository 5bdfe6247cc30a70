#include <roost/task/owned_scope.hpp>

#include <roost/task/checkpoint.hpp>
#include <roost/task/failure_sink.hpp>
#include <roost/task/shield.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/visit.hpp>

#include <cstdio>

namespace roost::inline ROOST_ABI {

namespace {

class pass_on_cancel {
public:
    pass_on_cancel(node& to, const token& from) noexcept : to_(&to), from_(from) {}
    void operator()() const noexcept { to_->cancel(from_.reason()); }

private:
    node* to_;
    token from_;
};

}  // namespace

owned_scope::owned_scope(executor_ref where, node_name name, std::source_location made_at)
    : owned_scope(new detail::root_block(where, name, made_at, detail::fail_fast_policy)) {}

owned_scope::owned_scope(node& parent, executor_ref where, node_name name, std::source_location made_at)
    : owned_scope(detail::root_block::below(parent, where, name, made_at, detail::fail_fast_policy)) {}

owned_scope::~owned_scope() {
    if (!is_closed()) {
        std::fputs(to_string().c_str(), stderr);
        panic("owned scope", block_->name(), block_->made_at(),
              "it was destroyed before close() had ended; what is printed above would outlive what it uses");
    }
    if (!told_ && block_->first_failure()) {
        report_failure("a child of scope", block_->name(), block_->made_at(), block_->first_failure());
    }
    block_->release();
}

std::string owned_scope::to_string() const { return tree_to_string(*block_); }

task<> owned_scope::wait_until_ended(detail::root_block& block) { co_await block.ended.wait(); }

task<> owned_scope::close() {
    block_->close();
    const token outer = co_await this_token();
    {
        inline_callback<pass_on_cancel> forward(outer, level::cancel, pass_on_cancel(*block_, outer));
        co_await shield(duration::max(), wait_until_ended(*block_));
    }
    std::vector<std::exception_ptr> others = block_->take_other_failures();
    const job me = co_await this_job();
    for (std::exception_ptr& other : others) {
        me.core()->add_suppressed(std::move(other));
    }
    rethrow();
}

void owned_scope::close_blocking() {
    block_->close();
    block_->ended.wait_blocking();
    for (std::exception_ptr& other : block_->take_other_failures()) {
        report_failure("a further child of scope", block_->name(), block_->made_at(), std::move(other));
    }
    rethrow();
}

void owned_scope::rethrow() {
    told_ = true;
    if (std::exception_ptr first = block_->first_failure()) {
        std::rethrow_exception(std::move(first));
    }
}

}  // namespace roost::inline ROOST_ABI
