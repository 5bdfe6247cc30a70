#pragma once

// A scope with background tasks that live as long as somebody needs them.
//
//   co_await with_services(run_server, std::ref(listener));
//
//   task<> run_server(service_scope& s, listener& l) {
//       s.serve("heartbeat", send_heartbeats());          runs until everything else here has ended
//       s.launch("accept", accept_connections(l));
//       co_return;
//   }
//
// When the body and every ordinary child have ended, the services are cancelled with the reason `closed` and awaited. A
// service that fails takes the scope down like any child; one that returns early is simply done.

#include <roost/task/detail/policy_scope.hpp>

#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

namespace detail {

// The services of one scope, to be cancelled at its end.
class service_list {
public:
    service_list() noexcept = default;
    service_list(const service_list&) = delete;
    service_list& operator=(const service_list&) = delete;

    void begin(scope& in) noexcept { in_ = &in; }
    [[nodiscard]] scope& where() const noexcept { return *in_; }
    // From cancel_all() on it is cancelled at once.
    void add(job service);
    void cancel_all() noexcept;

private:
    scope* in_ = nullptr;
    small_mutex lock_;
    bool over_ = false;
    std::vector<job> jobs_;
    std::size_t look_at_ = 16;  // how many there are when those that have ended are taken out next
};

}  // namespace detail

// Where children and services are started. Made by with_services.
class service_scope {
public:
    service_scope(scope& in, detail::service_list& services) noexcept
        : core_(node_ref<detail::scope_core>::share(in.core())), in_(in.core()), services_(&services) {}
    service_scope(const service_scope&) = delete;
    service_scope& operator=(const service_scope&) = delete;

    template <class T>
    job launch(node_name name, task<T> t, start how = start::scheduled,
               std::source_location where = std::source_location::current()) {
        return inside().launch(name, std::move(t), how, where);
    }
    template <class T>
    [[nodiscard]] deferred<T> async(node_name name, task<T> t, start how = start::scheduled,
                                    std::source_location where = std::source_location::current()) {
        return inside().async(name, std::move(t), how, where);
    }
    // A task for as long as there are others.
    template <class T>
    job serve(node_name name, task<T> t, start how = start::scheduled,
              std::source_location where = std::source_location::current()) {
        job made = services_->where().launch(name, std::move(t), how, where);
        services_->add(made);
        return made;
    }
    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_.cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_.observe(); }
    [[nodiscard]] scope& inner() noexcept { return in_; }

private:
    // Services belong to it, too, though not to the scope of the others.
    [[nodiscard]] detail::inner_scope inside() const noexcept {
        return detail::inner_scope(*core_, core_->is_closing() && services_->where().core().has_caller_inside()
                                               ? admission::member
                                               : admission::outsider);
    }

    node_ref<detail::scope_core> core_;  // a service outlives the scope of the others: it is refused there, not lost
    detail::inner_scope in_;
    detail::service_list* services_;
};

namespace detail {

template <class T, class Fn, class... Args>
task<T> body_with_services(scope& in, service_list& services, std::optional<service_scope>& made, Fn fn, Args... args) {
    co_return co_await std::invoke(fn, made.emplace(in, services), std::move(args)...);
}

// Two scopes: services in the outer one, body and children in the inner one. When the inner one is over the services go.
template <class T, class Fn, class... Args>
task<T> outer_of_services(scope& outer, site where, service_list& services, std::optional<service_scope>& made, Fn fn,
                          Args... args) {
    services.begin(outer);
    using start_function = task<T> (*)(scope&, service_list&, std::optional<service_scope>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<service_list>, std::reference_wrapper<std::optional<service_scope>>,
                 Fn, Args...>
        inner(fail_fast_policy, "scope", where, &body_with_services<T, Fn, Args...>, std::ref(services), std::ref(made),
              std::move(fn), std::move(args)...);
    if constexpr (std::is_void_v<T>) {
        co_await std::move(inner);
        services.cancel_all();
    } else if constexpr (std::is_reference_v<T>) {
        auto* const value = std::addressof(static_cast<std::remove_reference_t<T>&>(co_await std::move(inner)));
        services.cancel_all();
        co_return static_cast<T>(*value);
    } else {
        T value = co_await std::move(inner);
        services.cancel_all();
        co_return value;
    }
}

template <class T, class Fn, class... Args>
task<T> run_with_services(site where, Fn fn, Args... args) {
    service_list services;
    std::optional<service_scope> made;  // here, because children and services may use it when the body has returned
    using start_function = task<T> (*)(scope&, site, service_list&, std::optional<service_scope>&, Fn, Args...);
    policy_scope<start_function, site, std::reference_wrapper<service_list>,
                 std::reference_wrapper<std::optional<service_scope>>, Fn, Args...>
        outer(fail_fast_policy, "services", where, &outer_of_services<T, Fn, Args...>, where, std::ref(services),
              std::ref(made), std::move(fn), std::move(args)...);
    co_return co_await std::move(outer);
}

template <class Fn, class... Args>
[[nodiscard]] auto with_services_at(site where, Fn&& fn, Args&&... args) {
    constexpr bool is_callable = std::is_invocable_v<callable_for<Fn>&, service_scope&, std::decay_t<Args>...>;
    static_assert(
        is_callable,
        "with_services(fn, args...): fn(service_scope&, args...) cannot be called with these arguments, which are passed as "
        "copies; for a parameter that is a reference write std::ref(x)");
    if constexpr (is_callable) {
        using made = std::invoke_result_t<callable_for<Fn>&, service_scope&, std::decay_t<Args>...>;
        static_assert(is_task<made>, "with_services(fn, args...): fn(service_scope&, args...) has to return a task");
        return run_with_services<typename made::value_type, callable_for<Fn>, std::decay_t<Args>...>(
            where, std::forward<Fn>(fn), std::forward<Args>(args)...);
    } else {
        return task<>();
    }
}

}  // namespace detail

// co_await with_services(fn, args...): like with_scope, for fn(service_scope&, args...).
// With at most three arguments reports say where it was written, with more they say where the job was launched.
template <class Fn>
[[nodiscard]] auto with_services(Fn&& fn, std::source_location where = std::source_location::current()) {
    return detail::with_services_at(where, std::forward<Fn>(fn));
}
template <class Fn, class A>
[[nodiscard]] auto with_services(Fn&& fn, A&& a, std::source_location where = std::source_location::current()) {
    return detail::with_services_at(where, std::forward<Fn>(fn), std::forward<A>(a));
}
template <class Fn, class A, class B>
[[nodiscard]] auto with_services(Fn&& fn, A&& a, B&& b, std::source_location where = std::source_location::current()) {
    return detail::with_services_at(where, std::forward<Fn>(fn), std::forward<A>(a), std::forward<B>(b));
}
template <class Fn, class A, class B, class C>
[[nodiscard]] auto with_services(Fn&& fn, A&& a, B&& b, C&& c,
                                 std::source_location where = std::source_location::current()) {
    return detail::with_services_at(where, std::forward<Fn>(fn), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class Fn, class... Args>
    requires(sizeof...(Args) > 3)
[[nodiscard]] auto with_services(Fn&& fn, Args&&... args) {
    return detail::with_services_at(site(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

}  // namespace roost::inline ROOST_ABI
