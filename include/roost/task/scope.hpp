#pragma once

// Children that cannot outlive the block they were started in.
//
//   auto page = co_await with_scope(build_page, id);
//
//   task<page> build_page(scope& s, int id) {
//       auto user = s.async("user", load_user(id));
//       auto news = s.async("news", load_news());
//       co_return page(co_await std::move(user), co_await std::move(news));
//   }
//
// with_scope returns when the body and every child have ended. If one of them fails, body and children are cancelled. The
// first error is rethrown with its own type, and the further ones travel with it (others_of). Cancelling one child is not a
// failure. A cancel is passed on to the children. It does not end the wait for them. scope_options set how many children run
// at a time and what a failure does. Every scope can have daemons.

#include <roost/task/as_task.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/detail/forward.hpp>
#include <roost/task/detail/job/launch_limit.hpp>
#include <roost/task/detail/job/scope_checks.hpp>
#include <roost/task/job.hpp>
#include <roost/task/scope_options.hpp>
#include <roost/task/task.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/token.hpp>

#include <functional>
#include <memory>
#include <source_location>
#include <tuple>

namespace roost::inline ROOST_ABI {

// How a child starts. `scheduled`: posted to the scope's executor. `immediate`: inside the call, if that runs on the
// executor. `always`: posted, and runs to its first await even in a cancelled scope, for a task that takes a resource.
using start = detail::start_mode;

class scope {
public:
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // Starts a child. The scope owns and awaits it; the job only observes. If the scope refuses the child, destroys the task
    // and returns an empty job. A closed scope refuses every child: its body and children have ended. A closing scope
    // refuses callers outside it: its body has ended, or request_close() was called. Jobs and daemons inside may still start
    // children. In a cancelled scope the child does not run: this call destroys the task, and the job ends cancelled.
    // start::always runs it to its first await.
    template <class T>
    [[gnu::always_inline]] job launch(node_name name, task<T> t, start how = start::scheduled,
                                      std::source_location where = std::source_location::current()) {
        auto block = begin(name, std::move(t), how, where);
        if constexpr (ROOST_CHECKED != 0) {
            if (!block) [[unlikely]] {
                detail::report_refused_launch(*core_, name, where);
            }
        }
        return job(detail::node_ref<detail::job_core>::adopt(block.release_to_caller()));
    }
    // As launch(), with a result.
    template <class T>
    [[gnu::always_inline]] deferred<T> async(node_name name, task<T> t, start how = start::scheduled,
                                             std::source_location where = std::source_location::current()) {
        return deferred<T>(begin(name, std::move(t), how, where));
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
        detail::promise_base& frame = t.release_frame();
        detail::check_arguments(live(), frame.borrowed(), name, how, where);
        auto block = detail::start_daemon<T>(live(), name, frame, how, where, as_);
        if constexpr (ROOST_CHECKED != 0) {
            if (!block) [[unlikely]] {
                detail::report_refused_launch(*core_, name, where);
            }
        }
        return job(detail::node_ref<detail::job_core>::adopt(block.release_to_caller()));
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

    // Cancels the body and every child. Thread-safe.
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { live().node::cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return token(live()); }
    // For work that is no task: the scope waits until the lease is returned. Returns an empty lease if launch() would be
    // refused.
    [[nodiscard]] roost::ext::lease lease() const noexcept {
        return live().enter_as(as_) ? roost::ext::lease::adopt(*core_) : roost::ext::lease();
    }
    [[nodiscard]] executor_ref executor() const noexcept { return live().executor(); }
    [[nodiscard]] time_point deadline() const noexcept { return live().deadline(); }

    [[nodiscard]] detail::scope_core& core() const noexcept { return live(); }
    // How callers outside this scope are admitted.
    [[nodiscard]] detail::admission outside_admission() const noexcept { return as_; }

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
    template <class T>
    [[nodiscard]] [[gnu::always_inline]] detail::node_ref<detail::job_block<T>> begin(node_name name, task<T> t, start how,
                                                                                      site where) {
        detail::check_arguments(live(), t.borrowed(), name, how, where);
        detail::promise_base& frame = limit_ ? in_slot(t) : t.release_frame();
        return detail::start_job<T>(live(), name, frame, how, where, as_);
    }
    // Out of line, so that launch() in a scope without a limit is small enough to be inlined.
    template <class T>
    [[nodiscard]] [[gnu::cold]] [[gnu::noinline]] detail::promise_base& in_slot(task<T>& t) {
        return detail::run_in_slot<T>(detail::launch_limit::slot(*limit_), std::move(t)).release_frame();
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

// co_await with_scope(fn, args...), co_await with_scope(options, fn, args...): runs fn(scope&, args...), a task, and waits
// for its children too. Arguments are moved into the parameters of fn, which end with the body. Children can run longer: a
// child must not refer to such a parameter. fn and its captures live until all children have ended.
template <class Fn, class... Args>
class [[nodiscard("nothing runs until it is awaited: write co_await")]] with_scope : public detail::task_only {
    static constexpr bool is_callable = std::is_invocable_v<Fn&, scope&, Args...>;
    static_assert(is_callable,
                  "with_scope(fn, args...): fn(scope&, args...) cannot be called with these arguments, which are passed as "
                  "copies; for a parameter that is a reference write std::ref(x)");
    using returned = detail::task_of_call<is_callable, Fn&, scope&, Args...>;
    static constexpr bool is_usable = is_callable && detail::is_task<returned>;
    static_assert(detail::is_task<returned>, "with_scope(fn, args...): fn(scope&, args...) has to return a task");
    using value = typename detail::task_or_nothing<is_usable, returned>::type::value_type;

public:
    explicit with_scope(Fn fn, Args... args, std::source_location where = std::source_location::current())
        : options_("scope", where), fn_(std::move(fn)), args_(std::move(args)...) {}
    explicit with_scope(scope_options options, Fn fn, Args... args)
        : options_(options), fn_(std::move(fn)), args_(std::move(args)...) {}

    template <detail::transfer Mode = detail::this_transfer>
    [[nodiscard]] auto in_task(detail::promise_base& me) && {
        return detail::scope_await<value, with_scope, Mode>(me, *this, detail::policy_of(options_.failures()),
                                                            options_.limit());
    }

    [[nodiscard]] roost::site site() const noexcept { return options_.site(); }
    [[nodiscard]] node_name name() const noexcept { return options_.name(); }
    [[nodiscard]] detail::promise_base& start(scope& s) {
        if constexpr (is_usable) {
            return std::apply([&](auto&... args) { return std::invoke(fn_, s, std::move(args)...); }, args_).release_frame();
        } else {
            std::terminate();
        }
    }

private:
    scope_options options_;
    Fn fn_;
    std::tuple<Args...> args_;
};
template <class Fn, class... Args>
with_scope(scope_options, Fn&&, Args&&...) -> with_scope<detail::callable_for<Fn>, std::decay_t<Args>...>;
template <class Fn, class... Args>
with_scope(Fn&&, Args&&...) -> with_scope<detail::callable_for<Fn>, std::decay_t<Args>...>;

}  // namespace roost::inline ROOST_ABI

// The definitions.
#include <roost/task/detail/job/scope_await.hpp>
