#pragma once

// The typed half of a group: slots that hold the results, and the awaiters made of them.

#include <roost/base/detail/result.hpp>
#include <roost/flow/detail/fork.hpp>
#include <roost/task/as_task.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/task.hpp>

#include <memory>
#include <tuple>
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

template <class T, class Base>
class fork_slot_of final : public boundary_link<fork_slot_of<T, Base>, T>, public Base {
public:
    fork_slot_of(std::uint32_t index, task<T>& t) noexcept : Base(static_cast<settled_link&>(*this), index) {
        this->keep_first(task_access::release_frame(t));
    }

    [[nodiscard]] kept_t<T> take_kept() { return result_in<T>::keep(this->value()); }

private:
    friend class boundary_link<fork_slot_of, T>;
    next_step ended(ending how, reason& why) noexcept {
        if (how == ending::cancelled) {
            this->settle_cancelled(why);
        }
        return this->group().child_done(*this, how, why);
    }
};

// Slots whose number and types are known at compile time.
template <class Base, class Indexes, class... T>
class fork_tuple;
template <class Base, std::size_t... I, class... T>
class fork_tuple<Base, std::index_sequence<I...>, T...> {
    template <std::size_t Index, class U>
    struct place {
        explicit place(task<U>& t) noexcept : slot(Index, t) {}
        fork_slot_of<U, Base> slot;
    };

public:
    explicit fork_tuple(std::tuple<task<T>...>& tasks) noexcept : places_(std::get<I>(tasks)...) {}
    template <class Fn>
    void for_each([[maybe_unused]] Fn fn) {
        (fn(std::get<I>(places_).slot), ...);
    }
    template <std::size_t Index>
    [[nodiscard]] auto& get() noexcept {
        return std::get<Index>(places_).slot;
    }

private:
    std::tuple<place<I, T>...> places_;
};

// As many slots as there are tasks in a vector, in frame memory.
template <class Base, class T>
class fork_array {
public:
    using slot = fork_slot_of<T, Base>;
    explicit fork_array(std::vector<task<T>>& tasks) : count_(tasks.size()) {
        if (count_ == 0) {
            return;
        }
        if constexpr (alignof(slot) > alignof(std::max_align_t)) {
            first_ = static_cast<slot*>(allocate(bytes(), alignof(slot)));
        } else {
            first_ = static_cast<slot*>(allocate_frame(bytes()));
        }
        for (std::size_t i = 0; i < count_; ++i) {
            ::new (static_cast<void*>(first_ + i)) slot(static_cast<std::uint32_t>(i), tasks[i]);
        }
    }
    fork_array(const fork_array&) = delete;
    fork_array& operator=(const fork_array&) = delete;
    ~fork_array() {
        if (count_ == 0) {
            return;
        }
        std::destroy_n(first_, count_);
        if constexpr (alignof(slot) > alignof(std::max_align_t)) {
            deallocate(first_, bytes(), alignof(slot));
        } else {
            deallocate_frame(first_, bytes());
        }
    }
    template <class Fn>
    void for_each(Fn fn) {
        for (std::size_t i = 0; i < count_; ++i) {
            fn(first_[i]);
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] slot& at(std::size_t i) noexcept { return first_[i]; }

private:
    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * sizeof(slot); }
    std::size_t count_;
    slot* first_ = nullptr;
};

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
