#pragma once

// Values that a task and everything started inside it can look up: a request's id, a trace, a tenant.
//
//   inline constexpr job_local<std::string> request_id;                       the key: an object of static lifetime
//
//   co_await with_value(request_id, std::string("r-17"), handle(request));    for handle() and everything started inside it
//
//   const std::string* id = co_await request_id.find();                       null: not set at any level above
//
// The value is visible to the task it is passed with, to the scopes which that task opens, and to their children. Children
// that this task starts in an outer scope do not find it. Inner values hide outer ones. A value does not change; to share
// state that changes, pass a pointer. Code that does not use a value pays nothing. with_value makes one small node, and
// find() visits each level on the way up.

#include <roost/task/as_task.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/frame/value_await.hpp>
#include <roost/task/detail/job/value_region.hpp>
#include <roost/task/task.hpp>

#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class T>
class job_local {
public:
    using value_type = T;
    constexpr job_local() noexcept = default;
    job_local(const job_local&) = delete;
    job_local& operator=(const job_local&) = delete;

    class find_call {
    public:
        explicit find_call(const job_local& key) noexcept : key_(&key) {}
        [[nodiscard]] detail::ready_await<const T*> in_task(detail::promise_base& me) const noexcept {
            const detail::region* const in = detail::where_now(me);
            return detail::ready_await<const T*>(
                in == nullptr ? nullptr : static_cast<const T*>(detail::value_region::find(*in, key_)));
        }

    private:
        const job_local* key_;
    };

    // co_await find(): returns a pointer to the value of the nearest level, or null. Never suspends, and is no checkpoint.
    [[nodiscard]] find_call find() const noexcept { return find_call(*this); }

private:
    char identity_ = 0;  // so that every key has its own address
};

// Runs t with the value and returns the result of t.
template <class V, class T>
[[nodiscard]] auto with_value(
    const job_local<V>& key, std::type_identity_t<V> value, task<T> t,
    std::source_location where = std::source_location::current()) noexcept(std::is_nothrow_move_constructible_v<V>) {
    return detail::value_call<T, V>(&key, std::move(value), std::move(t), where);
}
// As above, for anything else that a task can await.
template <class V, class A>
    requires detail::waitable<A>
[[nodiscard]] auto with_value(const job_local<V>& key, std::type_identity_t<V> value, A&& a,
                              std::source_location where = std::source_location::current()) {
    return with_value(key, std::move(value), roost::as_task(std::forward<A>(a)), where);
}

}  // namespace roost::inline ROOST_ABI
