#pragma once

// What co_await on_exit(...) registers, and runs when the frame has ended.

#include <roost/base/atomic.hpp>
#include <roost/task/detail/frame/burial.hpp>
#include <roost/task/detail/frame/promise_base.hpp>
#include <roost/task/detail/job/inner_region.hpp>
#include <roost/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Shorter than the phase in which a service cancels its work (4 s).
inline constexpr duration default_exit_budget = std::chrono::seconds(3);

// One registered action. It stands between the frame and the link that the frame had before.
class exit_action : private link_ops, private result_link<void>, private shield_region {
public:
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    void put_before(promise_base& frame) noexcept;

protected:
    exit_action(duration budget, site where) noexcept;
    virtual ~exit_action() = default;

private:
    virtual promise_base& make_task() = 0;

    static next_step frame_done(await_link& link, ending how, reason& why) noexcept;
    static next_step action_done(await_link& link, ending how, reason& why) noexcept;
    static promise_base* above_frame(const link_ops& self, await_link& link) noexcept;
    static promise_base* above_action(const link_ops& self, await_link& link) noexcept;
    next_step go_on() noexcept;
    void run_failed(std::exception_ptr error) noexcept;

    static const link_ops action_ops;

    await_link* link_ = nullptr;  // of the frame
    std::uintptr_t before_ = 0;
    region* where_ = nullptr;
    ending how_ = ending::none;
    reason why_;
    duration budget_;
    site made_at_;
};

template <class Fn, class... Args>
class exit_action_of final : public exit_action {
public:
    exit_action_of(duration budget, site where, Fn fn, std::tuple<Args...> args)
        : exit_action(budget, where), fn_(std::move(fn)), args_(std::move(args)) {}

private:
    promise_base& make_task() override {
        return task_access::release_frame(
            std::apply([&](auto&... args) { return std::invoke(fn_, std::move(args)...); }, args_));
    }

    Fn fn_;
    std::tuple<Args...> args_;
};

template <class Fn, class... Args>
class [[nodiscard]] exit_call {
    using action_task = std::invoke_result_t<Fn&, Args...>;
    static_assert(std::is_same_v<action_task, task<void>>, "on_exit(fn, args...): fn(args...) has to return a task<>");

public:
    template <class F, class... As>
    explicit exit_call(duration budget, F&& fn, As&&... args)
        : fn_(std::forward<F>(fn)), args_(std::forward<As>(args)...), budget_(budget) {}

    exit_call&& within(duration budget) && noexcept {
        budget_ = budget;
        return std::move(*this);
    }
    // Registers the action. Never suspends, not even in a cancelled job.
    [[nodiscard]] auto in_task(promise_base& me) && {
        auto* action = new exit_action_of<Fn, Args...>(budget_, where_now(me)->made_at(), std::move(fn_), std::move(args_));
        action->put_before(me);
        return std::suspend_never();
    }

private:
    Fn fn_;
    std::tuple<Args...> args_;
    duration budget_;
};

}  // namespace roost::inline ROOST_ABI::detail
