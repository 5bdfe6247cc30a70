#pragma once

// Values that a task and everything started inside it can look up: a request's id, a trace, a tenant.
//
//   inline constexpr job_local<std::string> request_id;                       the key: an object of static lifetime
//
//   co_await with_value(request_id, std::string("r-17"), handle(request));    for handle() and everything started inside it
//
//   const std::string* id = co_await request_id.find();                       null: not set at any level above
//
// A value is found by the task it is passed with, by the scopes that task opens and by their children. It is not found by
// children that this task starts in a scope further out. Inner values hide outer ones. A value does not change; to share
// state that changes, pass a pointer. Code that does not use it pays nothing; with_value makes one small node, find() visits
// each level on the way up.

#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/detail/frame/ready_await.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/task/task.hpp>

#include <source_location>
#include <type_traits>

namespace roost::inline ROOST_ABI {

namespace detail {

class value_region final : public guest_region {
public:
    [[nodiscard]] static value_region& make(region& parent, site made_at, const void* key, const void* value);
    void leave_for_good() noexcept;
    // Returns the value of the nearest level that has the key, from `from` upwards; null if there is none.
    [[nodiscard]] static const void* find(const node& from, const void* key) noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    value_region(region& parent, site made_at, const void* key, const void* value)
        : guest_region(functions, parent, "value", made_at, {}, parent.owner()), key_(key), value_(value) {}
    static void destroy(node& self) noexcept { delete &static_cast<value_region&>(static_cast<region&>(self)); }
    static const node_functions functions;

    const void* key_;
    const void* value_;  // in the frame of the awaiting coroutine; not looked up after it has resumed
};

}  // namespace detail

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
    char identity_ = 0;  // gives every key an address of its own
};

namespace detail {

// A base, so that the value outlives a task that was not begun, and its arguments.
template <class V>
struct value_holder {
    V held;
};

template <class T, class V, transfer Mode>
class value_await final : private value_holder<V>, public boundary_await<value_await<T, V, Mode>, T, Mode> {
    using boundary = boundary_await<value_await, T, Mode>;

public:
    // Takes the task after the value was moved: if moving throws, the caller still owns the task.
    value_await(promise_base& me, task<T>& t, const void* key, V& value, site where) noexcept(moves_quietly)
        : value_holder<V>{std::move(value)}, boundary(me, t.release_frame()), key_(key), where_(where) {}
    auto await_suspend(std::coroutine_handle<>) -> typename boundary::suspended {
        if (this->is_cancelled()) {
            return this->unwind();
        }
        region_ = &value_region::make(this->me().region(), where_, key_, &this->held);
        return this->begin(*region_);
    }

private:
    friend class boundary_link<value_await, T>;
    static constexpr bool moves_quietly = std::is_nothrow_move_constructible_v<V>;
    next_step ended(ending how, reason&) noexcept {
        std::exchange(region_, nullptr)->leave_for_good();
        return this->pass_on(how);
    }

    const void* key_;
    site where_;
    value_region* region_ = nullptr;
};

template <class T, class V>
class [[nodiscard]] value_call {
public:
    value_call(const void* key, V value, task<T> t, site where) noexcept(std::is_nothrow_move_constructible_v<V>)
        : key_(key), value_(std::move(value)), task_(std::move(t)), where_(where) {}
    template <transfer Mode = this_transfer>
    [[nodiscard]] value_await<T, V, Mode> in_task(promise_base& me) && {
        return value_await<T, V, Mode>(me, task_, key_, value_, where_);
    }

private:
    const void* key_;
    V value_;
    task<T> task_;
    site where_;
};

}  // namespace detail

// Runs t with the value and returns the result of t.
template <class V, class T>
[[nodiscard]] auto with_value(
    const job_local<V>& key, std::type_identity_t<V> value, task<T> t,
    std::source_location where = std::source_location::current()) noexcept(std::is_nothrow_move_constructible_v<V>) {
    return detail::value_call<T, V>(&key, std::move(value), std::move(t), where);
}

}  // namespace roost::inline ROOST_ABI
