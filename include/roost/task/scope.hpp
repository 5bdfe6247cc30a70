#pragma once

// Starts children that end before the scope does. with_scope.hpp is the scope of a block, owned_scope.hpp that of an object.

#include <roost/task/as_task.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/detail/access.hpp>
#include <roost/task/detail/job/launch_limit.hpp>
#include <roost/task/detail/job/scope_checks.hpp>
#include <roost/task/job.hpp>
#include <roost/task/scope_options.hpp>
#include <roost/task/task.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/token.hpp>

#include <memory>
#include <source_location>

namespace roost::inline ROOST_ABI {

// How a child starts. `scheduled`: posted to the scope's executor. `immediate`: inside the call, if that runs on the
// executor. `always`: posted, and runs to its first await even in a cancelled scope, for a task that takes a resource. In a
// scope with at_most() the wait for the slot comes first, so a cancel can destroy the task before it starts.
using start = detail::start_mode;

class scope {
public:
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // Starts a child. The scope owns and awaits it; the job only observes. If the scope refuses the child, destroys the task
    // and returns an empty job. A scope is closing after its body has returned or request_close() was called. Then it refuses
    // callers outside it; jobs and daemons inside may still start children. It is closed when all of them have ended, and
    // refuses every child. In a cancelled scope the child does not run: this call destroys the task, and the job ends
    // cancelled; but see start::always. Throws std::bad_alloc; then the task is destroyed.
    template <class T>
    [[gnu::always_inline]] job launch(node_name name, task<T> t, start how = start::scheduled,
                                      std::source_location where = std::source_location::current()) {
        return handle_of(begin(name, t, how, where), name, where);
    }
    // As launch(), with a result.
    template <class T>
    [[gnu::always_inline]] deferred<T> async(node_name name, task<T> t, start how = start::scheduled,
                                             std::source_location where = std::source_location::current()) {
        return deferred<T>(begin(name, t, how, where));
    }
    // As above, for anything else that a task can await.
    template <class A>
        requires detail::waitable<A>
    job launch(node_name name, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return launch(name, detail::as_child_task(std::forward<A>(a)), how, where);
    }
    template <class A>
        requires detail::waitable<A>
    auto async(node_name name, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return async(name, detail::as_child_task(std::forward<A>(a)), how, where);
    }

    // Starts a background task. When the body and all ordinary children have ended, it is cancelled with the reason
    // `closed`. The scope ends after it. Its failure counts as a child's. It does not take a slot of at_most(). Refused as
    // launch() is.
    template <class T>
    job daemon(node_name name, task<T> t, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        detail::promise_base& frame = detail::task_access::release_frame(t);
        detail::check_arguments(live(), frame.borrowed(), name, how, where);
        return handle_of(detail::start_daemon<T>(live(), name, frame, how, where, as_), name, where);
    }
    template <class A>
        requires detail::waitable<A>
    job daemon(node_name name, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return daemon(name, detail::as_child_task(std::forward<A>(a)), how, where);
    }

    template <class T>
    [[deprecated("use daemon()")]] job serve(node_name name, task<T> t, start how = start::scheduled,
                                             std::source_location where = std::source_location::current()) {
        return daemon(name, std::move(t), how, where);
    }

    // co_await room(): waits, in the queue of the children, until a slot of at_most() is free. It does not keep the slot: with
    // one producer the next launch() gets it. Returns at once in a scope without a limit.
    [[nodiscard]] task<> room() { return detail::wait_for_room(limit_.get()); }
    // Returns the number of free slots; the largest number in a scope without a limit.
    [[nodiscard]] std::uint32_t free_slots() const noexcept { return limit_ ? limit_->free_now() : ~std::uint32_t(0); }
    [[deprecated("use free_slots()")]] [[nodiscard]] std::uint32_t free_places() const noexcept { return free_slots(); }

    // Cancels the body and every child. The daemons of a with_scope end after the others, those of an owned_scope at once.
    // Thread-safe.
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { live().node::cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return token(live()); }
    // Returns a unit of work for code that is no task. The scope waits until the lease is returned. Returns an empty lease if
    // launch() would be refused.
    [[nodiscard]] roost::ext::lease lease() const noexcept {
        return live().enter_as(as_) ? detail::tree_access::adopt_lease(*core_) : roost::ext::lease();
    }
    [[nodiscard]] executor_ref executor() const noexcept { return live().executor(); }
    [[nodiscard]] time_point deadline() const noexcept { return live().deadline(); }

    // Returns the node of the scope, with which its jobs are visited, stopped or cancelled.
    [[nodiscard]] node tree_node() const noexcept { return live(); }

protected:
    // `limit` is that of at_most(); zero means no limit. Throws std::bad_alloc if the limit is not zero and memory runs out.
    explicit scope(detail::scope_core& core, std::uint32_t limit = 0, detail::admission as = detail::admission::outsider)
        : core_(&core), limit_(limit == 0 ? nullptr : std::make_unique<detail::launch_limit>(limit)), as_(as) {}
    ~scope() {
        if constexpr (ROOST_CHECKED != 0) {  // read by the next use, which is a mistake
            *const_cast<detail::scope_core* volatile*>(&core_) = nullptr;
        }
    }

private:
    friend struct detail::task_access;
    template <class T>
    [[nodiscard]] [[gnu::always_inline]] detail::node_ref<detail::job_block<T>> begin(node_name name, task<T>& t, start how,
                                                                                      site where) {
        detail::check_arguments(live(), detail::task_access::borrowed(t), name, how, where);
        detail::promise_base& frame = limit_ ? in_slot(t) : detail::task_access::release_frame(t);
        return detail::start_job<T>(live(), name, frame, how, where, as_);
    }
    template <class T>
    [[nodiscard]] [[gnu::always_inline]] job handle_of(detail::node_ref<detail::job_block<T>> block, node_name name,
                                                       site where) {
        if constexpr (ROOST_CHECKED != 0) {
            if (!block) [[unlikely]] {
                detail::report_refused_launch(*core_, name, where);
            }
        }
        return job(detail::node_ref<detail::job_core>::adopt(block.release_to_caller()));
    }
    // Out of line, so that launch() in a scope without a limit is small enough to be inlined.
    template <class T>
    [[nodiscard]] [[gnu::cold]] [[gnu::noinline]] detail::promise_base& in_slot(task<T>& t) {
        return detail::task_access::release_frame(detail::run_in_slot<T>(detail::launch_limit::slot(*limit_), std::move(t)));
    }
    [[nodiscard]] detail::scope_core& live() const noexcept {
        if constexpr (ROOST_CHECKED != 0) {
            if (core_ == nullptr) [[unlikely]] {
                detail::refuse_ended_scope();
            }
        }
        return *core_;
    }

    detail::scope_core* core_;
    std::unique_ptr<detail::launch_limit> limit_;
    detail::admission as_;
};

inline detail::scope_core& detail::task_access::core_of(const scope& of) noexcept { return of.live(); }
inline detail::admission detail::task_access::outside_admission(const scope& of) noexcept { return of.as_; }

}  // namespace roost::inline ROOST_ABI

#include <roost/task/with_scope.hpp>
