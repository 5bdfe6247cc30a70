#pragma once

// An executor that can be closed, for an object with its own thread, loop or strand (an actor, a connection). Closing it
// ends everything that runs on it.
//
//   closing_executor own(runtime, "connection 7");
//   own.launch("reader", read_lines(socket));           // a child of the executor itself
//   auto t = co_await on(own, parse(line));             // a task of the calling job, for as long as the executor is open
//   co_await own.close();
//
// close() cancels everything bound to the executor, with the reason `closed`, and waits until it has ended. Bodies unwind on
// this executor, and their locals are destroyed there. From close() on, launch() returns an empty job, and on() ends
// cancelled. A caller inside a child of the executor, at any depth, gets a cancelled job instead. close() throws
// error(would_deadlock) if its caller is bound to the executor. Posted work runs on the target executor, which must outlive
// this one. post() is not refused after close().

#include <roost/task/job_local.hpp>
#include <roost/task/on.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/detail/passing_callback.hpp>

#include <source_location>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

class closing_executor final : public executor {
public:
    explicit closing_executor(executor_ref stands_on, node_name name,
                              std::source_location made_at = std::source_location::current())
        : target_(stands_on), scope_(*this, name, made_at) {}
    // Requires that close() has ended: see owned_scope.
    ~closing_executor() = default;

    bool post(ext::work& w) noexcept override { return target_.post(w); }
    bool post_last(ext::work& w) noexcept override { return target_->post_last(w); }
    ext::timer_service* timers() noexcept override { return target_->timers(); }
    ext::blocking_service* blocking() noexcept override { return target_->blocking(); }
    [[nodiscard]] bool is_here() const noexcept override { return target_->is_here(); }
    [[nodiscard]] bool owns_this_thread() const noexcept override { return target_->owns_this_thread(); }
    [[nodiscard]] std::string_view name() const noexcept override { return detail::task_access::core_of(scope_).name(); }

    // Starts a child: a task, or anything else that a task can await. As in a scope, a failed child cancels the others, and
    // close() throws the first failure.
    template <class A>
        requires detail::task_or_waitable<A>
    job launch(node_name child, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return scope_.launch(child, std::forward<A>(a), how, where);
    }
    // As launch(), with a result: a deferred.
    template <class A>
        requires detail::task_or_waitable<A>
    auto async(node_name child, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return scope_.async(child, std::forward<A>(a), how, where);
    }

    [[nodiscard]] task<> close();
    // As close(), blocking the thread; see owned_scope::close_blocking(). Requires a thread that runs none of the target's
    // work.
    void close_blocking();
    [[nodiscard]] bool is_closed() const noexcept { return scope_.is_closed(); }

    [[nodiscard]] token observe() const noexcept { return scope_.observe(); }
    // Returns a lease, which delays the end of close(). Returns an empty lease from close() on.
    [[nodiscard]] ext::lease try_bind() const noexcept { return ext::lease::try_take(detail::task_access::core_of(scope_)); }

private:
    void refuse_close_from_inside() const;

    executor_ref target_;
    owned_scope scope_;
};

// Runs t while the executor is open. Closing the executor cancels t, and the awaiting body ends cancelled.
template <class T>
[[nodiscard]] task<T> on(closing_executor& where, task<T> t, std::source_location from = std::source_location::current());

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/flow/detail/run_while_open.hpp>
