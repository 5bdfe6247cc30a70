#pragma once

// Children that can't outlive the block they were started in.
//
//   auto page = co_await with_scope(build_page, id);
//
//   task<page> build_page(scope& s, int id) {
//       auto user = s.async("user", load_user(id));
//       auto news = s.async("news", load_news());
//       co_return page(co_await std::move(user), co_await std::move(news));
//   }
//
// with_scope returns when the body and every child have ended. If one of them fails, the others are cancelled and the first
// error is rethrown with its own type; the further ones are kept on the outcome. A child that is cancelled by itself fails
// nobody. Leaving the scope can't be abandoned: a cancel is passed on to the children, and the wait goes on.

#include <roost/task/as_task.hpp>
#include <roost/task/deferred.hpp>
#include <roost/task/detail/closure_check.hpp>
#include <roost/task/job.hpp>
#include <roost/task/task.hpp>
#include <roost/tree/lease.hpp>
#include <roost/tree/token.hpp>

#include <functional>
#include <source_location>
#include <tuple>

namespace roost::inline ROOST_ABI {

// How a child starts: posted to the scope's executor; inside the call when that is already on the executor; or posted and
// run up to its first await even if the scope has been cancelled (for bodies that take over something to clean up).
using start = detail::start_mode;

namespace detail {

// Ends the program when the task refers to a temporary of the body that launches it: that is gone when the job runs.
[[gnu::cold]] void refuse_borrowed(promise_base& frame, node_name name, start_mode how, site where) noexcept;
inline void check_arguments(promise_base& frame, node_name name, start_mode how, site where) noexcept {
    if (frame.borrowed() != nullptr) [[unlikely]] {
        refuse_borrowed(frame, name, how, where);
    }
}
[[noreturn, gnu::cold]] void refuse_ended_scope() noexcept;
[[gnu::cold]] void report_refused_launch(const scope_core& in, node_name name, site where) noexcept;

}  // namespace detail

class scope {
public:
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // Starts a child. The scope owns and awaits it; the job only observes. In a closed scope an empty job, and the task is
    // destroyed; so in a closing one, unless the call is made in a job below: what is inside may start more until all of it
    // has ended. In a cancelled scope the body doesn't run, its arguments are destroyed here, and the job ends cancelled.
    template <class T>
    job launch(node_name name, task<T> t, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        detail::promise_base& frame = t.release_frame();
        detail::check_arguments(frame, name, how, where);
        auto block = detail::start_job<T>(live(), name, frame, how, where, as_);
        if constexpr (ROOST_CHECKED != 0) {
            if (!block) [[unlikely]] {
                detail::report_refused_launch(*core_, name, where);
            }
        }
        return job(node_ref<detail::job_core>::adopt(block.release_to_caller()));
    }
    // The same with a result.
    template <class T>
    [[nodiscard]] deferred<T> async(node_name name, task<T> t, start how = start::scheduled,
                                    std::source_location where = std::source_location::current()) {
        detail::promise_base& frame = t.release_frame();
        detail::check_arguments(frame, name, how, where);
        return deferred<T>(detail::start_job<T>(live(), name, frame, how, where, as_));
    }
    // The same of anything else that a task can await.
    template <class A>
        requires detail::waitable<A>
    job launch(node_name name, A&& a, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return launch(name, detail::as_child_task(std::forward<A>(a)), how, where);
    }
    template <class A>
        requires detail::waitable<A>
    [[nodiscard]] auto async(node_name name, A&& a, start how = start::scheduled,
                             std::source_location where = std::source_location::current()) {
        return async(name, detail::as_child_task(std::forward<A>(a)), how, where);
    }

    // Cancels the body and every child.
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { live().node::cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return token(live()); }
    // For work that is no task: the scope waits until the lease is given back. Empty where launch() refuses.
    [[nodiscard]] roost::lease lease() const noexcept {
        return live().enter_as(as_) ? roost::lease::adopt(*core_) : roost::lease();
    }
    [[nodiscard]] executor_ref executor() const noexcept { return core_->where(); }
    [[nodiscard]] time_point deadline() const noexcept { return core_->deadline(); }

    [[nodiscard]] detail::scope_core& core() const noexcept { return live(); }
    // What callers are taken for whose job is not below it.
    [[nodiscard]] admission taken_for() const noexcept { return as_; }

protected:
    explicit scope(detail::scope_core& core, admission as = admission::outsider) noexcept : core_(&core), as_(as) {}
    ~scope() {
        if constexpr (ROOST_CHECKED != 0) {  // read by the next use, which is a mistake
            *const_cast<detail::scope_core* volatile*>(&core_) = nullptr;
        }
    }

private:
    [[nodiscard]] detail::scope_core& live() const noexcept {
        if constexpr (ROOST_CHECKED != 0) {
            if (core_ == nullptr) [[unlikely]] {
                detail::refuse_ended_scope();
            }
        }
        return *core_;
    }

    detail::scope_core* core_;
    admission as_;
};

namespace detail {

// The node of a with_scope, and the hand-over between the body that has ended and whoever takes the last unit.
//
// id  operation               order    pairs  carries                                   fails in
// C1  join: exchange          acq_rel  C2     in: what every child did; out: this touch, the last  scope_core_model: last_unit_vs_return,
//                                                                                       last_unit_goes_on_elsewhere
// C2  drained: exchange       acq_rel  C1     the same; `next` has come with the units  scope_core_model: last_unit_goes_on_elsewhere
class scope_block final : public scope_core {
public:
    [[nodiscard]] static scope_block& make(region& parent, node_name name, site made_at, const scope_policy& policy,
                                           executor_ref where = {});

    // The body has returned. True: so has everything else, nothing failed, and the block is gone.
    [[nodiscard]] bool end_quietly() noexcept;
    // The body has ended. True: so has everything else. False: `next` goes on, in the body, when it has.
    [[nodiscard]] bool join(continuation& next) noexcept;

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
    explicit inner_scope(scope_core& core, admission as = admission::outsider) noexcept : scope(core, as) {}
};

template <class T, class Call, transfer Mode>
class scope_await final : private result_link<T>, private continuation {
public:
    scope_await(promise_base& me, Call& call, const scope_policy& policy) noexcept
        : result_link<T>(&ops), continuation(go_on), me_(&me), call_(&call), policy_(&policy) {}
    ~scope_await() {
        if (block_ != nullptr) {
            block_->release();
        }
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    auto await_suspend(std::coroutine_handle<> self) -> typename transfer_to<Mode>::result {
        promise_base& me = *me_;
        static_cast<void>(self);
        if (me.where().is_cancelled()) [[unlikely]] {
            unwind_frame(me);
            return transfer_to<Mode>::none();
        }
        block_ = &scope_block::make(me.where(), call_->name(), call_->where(), *policy_);
        scope_.emplace(*block_);
        next_step then = next_step::nothing();
        try {
            promise_base& child = call_->start(*scope_);
            child.attach(*this, *block_);
            then = next_step::resume(child);
        } catch (...) {
            this->fail(std::current_exception());
            reason none;
            then = done(*this, ending::threw, none);
        }
        if (then.is_unwind()) [[unlikely]] {
            unwind_frame(me, this->why());
        } else if (then.frame() != nullptr) [[likely]] {
            return start_child<Mode>(me, *then.frame());
        }
        return transfer_to<Mode>::none();
    }
    T await_resume() { return this->take(); }

private:
    static next_step done(await_link& link, ending how, reason& why) noexcept {
        auto& self = static_cast<scope_await&>(static_cast<result_link<T>&>(link));
        if (how == ending::returned && self.block_->end_quietly()) [[likely]] {
            self.block_ = nullptr;
            return next_step::resume(*self.me_);
        }
        if (how == ending::threw) {
            self.block_->fail_with(self.error(), job_of(*self.me_).take_carried(self.error()));
        } else if (how == ending::cancelled) {
            const bool was_cancelled = self.block_->is_cancelled();
            why = was_cancelled ? self.block_->why() : why;
            self.settle_cancelled(why);
            if (!was_cancelled) {  // else its children know, and a reason of its own would stand in the way of why()
                self.block_->node::cancel(std::move(why));
            }
        }
        return self.block_->join(self) ? self.finish() : next_step::nothing();
    }
    static next_step go_on(continuation& c) noexcept { return static_cast<scope_await&>(c).finish(); }

    next_step finish() noexcept {
        promise_base& me = *me_;
        if (std::exception_ptr first = block_->first_failure()) {
            job_of(me).carry(first, block_->take_other_failures());
            this->fail(std::move(first));
            return next_step::resume(me);
        }
        if (this->state() == ending::cancelled) {
            runner::of_this_thread().why = this->why();
            return next_step::unwind(me);
        }
        if (me.where().is_cancelled()) [[unlikely]] {
            region::note_cut_short(me.where());
        }
        return next_step::resume(me);
    }

    static constexpr link_ops ops{done};
    promise_base* me_;
    Call* call_;
    const scope_policy* policy_;
    scope_block* block_ = nullptr;
    std::optional<inner_scope> scope_;
};

}  // namespace detail

// co_await with_scope(fn, args...): runs fn(scope&, args...), a task, and waits for its children too. The arguments are
// passed on as parameters; what a callable captures lives as long as the body.
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
        : fn_(std::move(fn)), args_(std::move(args)...), where_(where) {}

    template <detail::transfer Mode = detail::this_transfer>
    [[nodiscard]] auto in_task(detail::promise_base& me) && {
        return detail::scope_await<value, with_scope, Mode>(me, *this, detail::fail_fast_policy);
    }

    [[nodiscard]] site where() const noexcept { return where_; }
    [[nodiscard]] static node_name name() noexcept { return "scope"; }
    [[nodiscard]] detail::promise_base& start(scope& s) {
        if constexpr (is_usable) {
            return std::apply([&](auto&... args) { return std::invoke(fn_, s, std::move(args)...); }, args_).release_frame();
        } else {
            std::terminate();
        }
    }

private:
    Fn fn_;
    std::tuple<Args...> args_;
    site where_;
};
template <class Fn, class... Args>
with_scope(Fn&&, Args&&...) -> with_scope<detail::callable_for<Fn>, std::decay_t<Args>...>;

}  // namespace roost::inline ROOST_ABI
