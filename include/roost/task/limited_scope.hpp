#pragma once

// A scope in which only so many children run at a time.
//
//   co_await with_limited_scope(8, crawl, std::ref(urls));
//
//   task<> crawl(limited_scope& s, url_list& urls) {
//       for (const url& u : urls) {
//           co_await s.room();                      waits until one of the eight places is free
//           s.launch("fetch", fetch(u));
//       }
//   }
//
// launch() and async() always take the child; beyond the limit it waits for its turn, first come, first served, before its
// task begins (a report shows it waiting on semaphore 'limit'). One that is cancelled meanwhile never begins. A child keeps
// its place until it ends, also while it waits for something: a child that waits for one behind it waits for ever.

#include <roost/sync/semaphore.hpp>
#include <roost/task/detail/policy_scope.hpp>

namespace roost::inline ROOST_ABI {

namespace detail {

[[noreturn]] void refuse_no_places();

template <class T>
task<T> in_turn(semaphore& places, task<T> t) {
    auto place = co_await places.acquire();
    co_return co_await std::move(t);
}

}  // namespace detail

class limited_scope {
public:
    limited_scope(scope& in, semaphore& places) noexcept : in_(&in), places_(&places) {}
    limited_scope(const limited_scope&) = delete;
    limited_scope& operator=(const limited_scope&) = delete;

    template <class T>
    job launch(node_name name, task<T> t, std::source_location where = std::source_location::current()) {
        return in_->launch(name, detail::in_turn(*places_, std::move(t)), start::scheduled, where);
    }
    template <class T>
    [[nodiscard]] deferred<T> async(node_name name, task<T> t,
                                    std::source_location where = std::source_location::current()) {
        return in_->async(name, detail::in_turn(*places_, std::move(t)), start::scheduled, where);
    }
    // co_await: waits behind those that are queued until a place is free. Does not keep it.
    [[nodiscard]] task<> room() { return wait_for_room(*places_); }

    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }
    [[nodiscard]] std::uint32_t free_places() const noexcept { return places_->available(); }

private:
    static task<> wait_for_room(semaphore& places) { static_cast<void>(co_await places.acquire()); }

    scope* in_;
    semaphore* places_;
};

namespace detail {

template <class T, class Fn, class... Args>
task<T> body_with_limit(scope& in, semaphore& places, std::optional<limited_scope>& made, Fn fn, Args... args) {
    co_return co_await std::invoke(fn, made.emplace(in, places), std::move(args)...);
}

template <class T, class Fn, class... Args>
task<T> run_with_limit(site where, std::uint32_t limit, Fn fn, Args... args) {
    semaphore places(limit, "limit");
    std::optional<limited_scope> made;  // here, because children may use it when the body has returned
    using start_function = task<T> (*)(scope&, semaphore&, std::optional<limited_scope>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<semaphore>, std::reference_wrapper<std::optional<limited_scope>>, Fn,
                 Args...>
        in(fail_fast_policy, "limited scope", where, &body_with_limit<T, Fn, Args...>, std::ref(places), std::ref(made),
           std::move(fn), std::move(args)...);
    co_return co_await std::move(in);
}

}  // namespace detail

// co_await with_limited_scope(limit, fn, args...): like with_scope, for fn(limited_scope&, args...). A limit of zero is a
// bug, named as such.
template <class Fn, class... Args>
[[nodiscard]] auto with_limited_scope(std::uint32_t limit, Fn&& fn, Args&&... args) {
    using made = std::invoke_result_t<detail::callable_for<Fn>&, limited_scope&, std::decay_t<Args>...>;
    static_assert(detail::is_task<made>,
                  "with_limited_scope(n, fn, args...): fn(limited_scope&, args...) has to return a task");
    if (limit == 0) {
        detail::refuse_no_places();
    }
    return detail::run_with_limit<typename made::value_type, detail::callable_for<Fn>, std::decay_t<Args>...>(
        site(), limit, std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
