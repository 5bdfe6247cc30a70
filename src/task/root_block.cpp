#include <roost/task/detail/job/root_block.hpp>

#include <roost/base/detail/subject_text.hpp>
#include <roost/base/error.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/base/task_cancelled.hpp>
#include <roost/task/detail/job/driven_task.hpp>
#include <roost/task/detail/job/root_job.hpp>
#include <roost/task/this_task.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions root_block::root_functions{
    .kind = "root scope", .destroy = destroy, .level_raised = level_raised, .drained = drained, .own = own_work::none};
constinit const node_functions root_block::owned_functions{
    .kind = "owned scope", .destroy = destroy, .level_raised = level_raised, .drained = drained, .own = own_work::none};

root_block::root_block(const node_functions& kind, executor_ref where, node_name name, site made_at,
                       const scope_policy& policy)
    : scope_core(kind, where, name, made_at, policy) {}

root_block::root_block(executor_ref where, node_name name, site made_at, const scope_policy& policy)
    : root_block(root_functions, where, name, made_at, policy) {}

root_block::root_block(node& parent, executor_ref where, node_name name, site made_at, const scope_policy& policy)
    : scope_core(owned_functions, parent, where, name, made_at, policy) {}

root_block* root_block::owned(executor_ref where, node_name name, site made_at, const scope_policy& policy) {
    return new root_block(owned_functions, where, name, made_at, policy);
}

namespace {

[[noreturn]] void throw_closed_parent(const node& made, const node& parent) {
    std::string text;
    append_subject(text, made.functions().kind, made.name(), made.made_at());
    append_subject(text.append(" was not made: its parent "), parent.functions().kind, parent.name(), parent.made_at());
    throw error(errc::closed, text + " is closing or closed");
}

}  // namespace

root_block* root_block::below(node& parent, executor_ref where, node_name name, site made_at, const scope_policy& policy) {
    auto* made = new root_block(parent, where, name, made_at, policy);
    if (made->attach(child_kind::idle, admission::outsider) == attached::refused) {
        try {
            throw_closed_parent(*made, parent);
        } catch (...) {
            made->discard();
            throw;
        }
    }
    return made;
}

void root_block::level_raised(node& self, level now) noexcept {
    if (now >= level::cancel) {
        static_cast<root_block&>(static_cast<region&>(self)).raise_daemons(now);
    }
}

// The drain holds a reference, so the event is still there when set() returns.
bool root_block::drained(node& self) noexcept {
    root_block& block = static_cast<root_block&>(static_cast<region&>(self));
    if (block.hold_for_daemons()) {
        return false;
    }
    block.ended.set();
    return true;
}

// An inline executor's work runs on the thread that posts it: no thread of its own could be blocked.
void root_block::refuse_to_block(std::string_view call, executor_ref where) const noexcept {
    if (ended.is_set()) {
        return;
    }
    const job running = current_job();
    if (!running && (!where->owns_this_thread() || dynamic_cast<inline_executor*>(where.get()) != nullptr)) {
        return;
    }
    panic(functions().kind, name(), made_at(),
          std::string(call) + " was called " +
              (running ? "inside job '" + std::string(running.name()) + "'"
                       : "on a thread of executor '" + std::string(where->name()) + "'") +
              ": it would block a thread that has to run its work");
}

void require_executor(executor_ref where, site from) noexcept {
    if (!where) {
        panic("task", "driven", from,
              "has nowhere to run: awaitable_on() and a pool with a task need an executor (options.where)");
    }
}

void refuse_to_block(executor_ref where, site from) {
    const job running = current_job();
    if (!running && !where->owns_this_thread()) {
        return;
    }
    throw error(errc::would_deadlock, "block_on at " + from.to_string() + " was called " +
                                          (running ? "inside job '" + std::string(running.name()) + "'"
                                                   : "on a thread of executor '" + std::string(where->name()) + "'") +
                                          ": it would block the thread that has to run the task");
}

void report_further_failures(job_core& job) noexcept {
    job.suppressed().for_each(
        [&job](const std::exception_ptr& other) { report_failure("job", job.name(), job.made_at(), other); },
        job.own_error());
}

void throw_cancelled(const reason& why) { throw task_cancelled(why); }

}  // namespace roost::inline ROOST_ABI::detail
