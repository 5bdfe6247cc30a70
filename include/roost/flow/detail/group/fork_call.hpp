#pragma once

// What when_all and race return, and its awaiter.

#include <roost/flow/detail/group/fork_slots.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/detail/job/policy_scope.hpp>

#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// An argument that a group can be made of, with the site of the call.
template <class X>
inline constexpr bool is_group_argument =
    task_or_waitable<X> || std::is_same_v<std::remove_cvref_t<X>, std::source_location>;
template <class T>
inline constexpr bool is_group_argument<std::vector<T>> = task_or_waitable<T>;
template <class T>
inline constexpr bool is_group_argument<std::vector<T>&> = task_or_waitable<T>;
template <class... X>
inline constexpr bool are_tasks = (is_group_argument<X> && ...);

// The awaiter of `co_await call`. Kind defines the group and makes the result.
template <class Kind, transfer Mode>
class fork_await final : private Kind::group {
public:
    template <class Tasks>
    fork_await(promise_base& me, Tasks& tasks, site where, Kind kind) noexcept(false)
        : Kind::group(me, kind), slots_(tasks), where_(where) {
        slots_.for_each([this](auto& slot) { this->add(slot); });
    }
    ~fork_await() { this->drop_rest(); }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    auto await_suspend(std::coroutine_handle<>) -> typename transfer_to<Mode>::result {
        if (promise_base* frame = this->start(this->name(), where_)) [[likely]] {
            return start_child<Mode>(this->waiter(), *frame);
        }
        return transfer_to<Mode>::none();
    }
    typename Kind::result await_resume() {
        this->rethrow_failure();
        return Kind::take(static_cast<typename Kind::group&>(*this), slots_);
    }

private:
    typename Kind::slots slots_;
    site where_;
};

// The object that when_all and race return: awaited as it is, or converted to a task where one is expected.
template <class Kind>
class [[nodiscard("it does nothing until it is awaited or launched")]] fork_call final : private task<typename Kind::result>,
                                                                                         public task_like {
public:
    using value_type = typename Kind::result;
    using tasks = typename Kind::tasks;
    template <class... Tasks>
    fork_call(Kind kind, site where, Tasks&&... all) noexcept
        : kind_(kind), where_(where), tasks_(std::forward<Tasks>(all)...) {}
    fork_call(fork_call&&) noexcept = default;
    fork_call& operator=(fork_call&&) noexcept = default;

    template <transfer Mode = this_transfer>
    [[nodiscard]] fork_await<Kind, Mode> in_task(promise_base& me) && {
        return fork_await<Kind, Mode>(me, tasks_, where_.is_known() ? where_ : me.region().made_at(), kind_);
    }
    // Sets the site of the await, for calls with too many arguments to take the site of the call.
    void awaited_at(site where) noexcept {
        if (!where_.is_known()) {
            where_ = where;
        }
    }
    [[nodiscard]] task<typename Kind::result> to_task() && { return run(std::move(*this)); }
    [[nodiscard]] explicit operator bool() const noexcept { return true; }

private:
    friend struct task_access;
    [[nodiscard]] promise_base& release_frame() { return task_access::release_frame(std::move(*this).to_task()); }
    // Awaited inside Roost, which is no site of the user's.
    class unplaced {
    public:
        explicit unplaced(fork_call& call) noexcept : call_(&call) {}
        template <transfer Mode = this_transfer>
        [[nodiscard]] fork_await<Kind, Mode> in_task(promise_base& me) && {
            return std::move(*call_).template in_task<Mode>(me);
        }

    private:
        fork_call* call_;
    };
    static task<typename Kind::result> run(fork_call call) { co_return co_await unplaced(call); }

    Kind kind_;
    site where_;
    tasks tasks_;
};

}  // namespace roost::inline ROOST_ABI::detail
