#pragma once

#include <roost/exec/detail/awaitable.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Refers to an awaiter stored elsewhere. (g++ 12 copies an awaiter that operator co_await returns by reference.)
template <class A>
class awaiter_elsewhere {
public:
    explicit awaiter_elsewhere(A& inner) noexcept : inner_(&inner) {}
    [[nodiscard]] bool await_ready() { return inner_->await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> handle) {
        return inner_->await_suspend(handle);
    }
    decltype(auto) await_resume() { return inner_->await_resume(); }
    bool try_cancel() noexcept
        requires can_be_cancelled<A>
    {
        return inner_->try_cancel();
    }
    [[nodiscard]] auto waits_on() const noexcept
        requires requires(const A& a) { a.waits_on(); }
    {
        return inner_->waits_on();
    }

private:
    A* inner_;
};

class awaiter_of_kept_call {
public:
    template <class A>
    auto operator()(A&& a) const {
        using made = awaiter_of<A>;
        if constexpr (std::is_reference_v<made>) {
            auto&& inner = get_awaiter(std::forward<A>(a));
            return awaiter_elsewhere<std::remove_reference_t<made>>(inner);
        } else {
            return get_awaiter(std::forward<A>(a));
        }
    }
};
inline constexpr awaiter_of_kept_call awaiter_of_kept;

}  // namespace roost::inline ROOST_ABI::detail
