#pragma once

// A scope without a job above it: what run() and block_on() stand on, and a named place for work that must outlive its creator.
// Failures of its children go to the failure sink. Has to be closed and joined before it goes.
//
//   shutdown server("server");
//   root_scope requests(server.tree_node(), on, "requests");    its jobs are work of the server: stop, drain, report, cancel

#include <roost/exec/blocking.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/detail/raise_turn.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

class root_block final : public scope_core {
public:
    root_block(executor_ref where, node_name name, site made_at, const scope_policy& policy);
    // Below a node that no body of ours runs in. Throws error(errc::closed) when that is closed.
    [[nodiscard]] static root_block* below(node& parent, executor_ref where, node_name name, site made_at,
                                           const scope_policy& policy);

    // For whoever is about to block his thread until it has ended. Ends the program in any job, and on a thread that runs the
    // work of `where`, unless it has ended already.
    void refuse_to_block(std::string_view call, executor_ref where) const noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    event ended;  // closed, and nothing is left below
    // Of the bodies that close it and are cancelled meanwhile.
    raise_turn cancel_turn;
    raise_turn abort_turn;

private:
    root_block(node& parent, executor_ref where, node_name name, site made_at, const scope_policy& policy);
    static void destroy(node& self) noexcept { delete &static_cast<root_block&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static const node_functions functions;
};

}  // namespace detail

class root_scope final : public scope {
public:
    class join_awaiter;

    explicit root_scope(executor_ref where, node_name name = "root",
                        std::source_location made_at = std::source_location::current());
    // Below a node: the jobs in it are work of that node, whose levels reach them. The scope alone delays nobody.
    root_scope(node& parent, executor_ref where, node_name name,
               std::source_location made_at = std::source_location::current());
    // Unless it was closed and has ended, this ends the program: work would be lost silently.
    ~root_scope();

    // From now on only jobs below it start children. What is there goes on.
    void close() noexcept { block_->close(); }
    [[nodiscard]] bool has_ended() const noexcept { return block_->ended.is_set(); }
    // close() first. Awaitable from any coroutine, and a clause of a select; in a job below it throws error(would_deadlock).
    [[nodiscard]] join_awaiter join() noexcept;
    // For threads that run none of its work: in a job, or on a thread of its executor, this ends the program unless the scope
    // has ended.
    void join_blocking() noexcept {
        block_->refuse_to_block("join_blocking()", core().where());
        detail::wait_for_task(block_->ended);
    }

private:
    explicit root_scope(detail::root_block* block) noexcept : scope(*block, admission::outsider), block_(block) {}
    detail::root_block* block_;
};

class [[nodiscard]] root_scope::join_awaiter : public event::operation {
public:
    explicit join_awaiter(detail::root_block& target) noexcept : event::operation(&target.ended), target_(&target) {}

    void check(const detail::promise_base&) const { target_->refuse_wait_from_inside(); }
    [[nodiscard]] detail::cancellable_await<event::operation> in_task(detail::promise_base& me) && {
        check(me);
        return detail::cancellable_await<event::operation>(me, static_cast<event::operation&&>(*this));
    }

private:
    const detail::root_block* target_;
};

inline root_scope::join_awaiter root_scope::join() noexcept { return join_awaiter(*block_); }

}  // namespace roost::inline ROOST_ABI
