#pragma once

// A scope that belongs to an object instead of a block.
//
//   class feed {
//       owned_scope work_;                                 // feed(executor_ref on) : work_(on, "feed")
//   public:
//       void refresh() { work_.launch("refresh", load()); }
//       task<> close() { co_await work_.close(); }         // call it before the object is destroyed
//   };
//
// close() refuses later children, waits for every child and rethrows the first failure. A failed child cancels the others,
// as in with_scope. The wait cannot be abandoned. A cancel or abort of the closing job is passed on to the children, and the
// wait continues. A job inside the scope cannot close it, because it would wait for itself: error(would_deadlock).
// Destroying the scope before a close has completed prints its tree and ends the program, also if it never had a child.
//
// A scope at the top of a program has no caller that could catch a failure. Use scope_options("jobs").report_failures()
// there. Below a node, the jobs are work of that node, and its levels reach them. The scope alone is no unit of work.
//
//   shutdown server("server");
//   owned_scope requests(server.tree_node(), on, "requests");   its jobs are work of the server: stop, drain, report, cancel

#include <roost/task/detail/job/root_block.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

namespace roost::inline ROOST_ABI {

class owned_scope : public scope {
public:
    class join_awaiter;

    owned_scope(executor_ref where, const scope_options& options);
    owned_scope(executor_ref where, node_name name, std::source_location made_at = std::source_location::current())
        : owned_scope(where, scope_options(name, made_at)) {}
    // Throws error(errc::closed) if the parent is closing or closed.
    owned_scope(const node& parent, executor_ref where, const scope_options& options);
    owned_scope(const node& parent, executor_ref where, node_name name,
                std::source_location made_at = std::source_location::current())
        : owned_scope(parent, where, scope_options(name, made_at)) {}
    ~owned_scope();

    // Closes the scope and waits; see above. Several jobs may call it at the same time.
    [[nodiscard]] task<> close();
    // Closes the scope, blocks until every child has ended, then rethrows the first failure. Requires a thread that is in no
    // job and runs no work of the scope's executor, unless nothing is left to wait for. Otherwise ends the program.
    void close_blocking() { close_blocking_on(executor()); }
    // From now on only jobs inside the scope may start children. Returns at once. Running children continue.
    void request_close() noexcept { block_->close(); }
    // Requires request_close(). Completes when everything has ended, for any coroutine type and as a clause of select().
    // Throws error(would_deadlock) in a job inside the scope. Rethrows no failure.
    [[nodiscard("it waits only when it is awaited: write co_await")]] join_awaiter join() noexcept;
    // Returns true if the scope is closed and everything in it has ended.
    [[nodiscard]] bool is_closed() const noexcept { return block_->ended.is_set(); }
    // Returns the tree of the scope as text.
    [[nodiscard]] std::string to_string() const;

private:
    owned_scope(detail::root_block* block, std::uint32_t limit);
    friend class closing_executor;
    void close_blocking_on(executor_ref where);  // `where` is the executor whose threads do the work
    void rethrow();

    detail::root_block* block_;
    seam::atomic<bool> is_observed_{false};  // a failure was rethrown to a closer
};

class [[nodiscard]] owned_scope::join_awaiter : public event::operation {
public:
    explicit join_awaiter(detail::root_block& target) noexcept : event::operation(&target.ended), target_(&target) {}

    [[nodiscard]] detail::cancellable_await<event::operation> in_task(detail::promise_base& me) && {
        check(me);
        return detail::cancellable_await<event::operation>(me, static_cast<event::operation&&>(*this));
    }

private:
    friend struct detail::task_access;
    void check(const detail::promise_base&) const { target_->refuse_wait_from_inside(); }

    const detail::root_block* target_;
};

inline owned_scope::join_awaiter owned_scope::join() noexcept { return join_awaiter(*block_); }

}  // namespace roost::inline ROOST_ABI
