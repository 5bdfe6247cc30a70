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
// launch() and async() always take the child, and with it a place, if one is free and nobody is in line; else the child waits
// for its turn, in line since that call, before its task begins (a report shows it waiting on event 'turn'). One that is
// cancelled meanwhile never begins. A child keeps its place until it ends, also while it waits for something: a child that
// waits for one behind it waits for ever. Children that have a place begin as the executor runs them.

#include <roost/base/intrusive_list.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/detail/policy_scope.hpp>

#include <memory>

namespace roost::inline ROOST_ABI {

namespace detail {

[[noreturn]] void refuse_no_places(site where);

// The places of a limited scope, and who is in line for one.
class place_queue {
public:
    class place;

    explicit place_queue(std::uint32_t places) noexcept : free_(places) {}
    place_queue(const place_queue&) = delete;
    place_queue& operator=(const place_queue&) = delete;

    [[nodiscard]] std::uint32_t free_now() const noexcept;

private:
    // Of one that has to wait. Whoever lets it pass holds it as well: it may be gone as soon as it can be seen to have passed.
    class turn : public list_hook, public std::enable_shared_from_this<turn> {
    public:
        turn() noexcept = default;
        event come{"turn"};
    };

    void give_back() noexcept;
    void leave(turn& mine) noexcept;

    mutable small_mutex lock_;
    std::uint32_t free_;
    intrusive_list<turn> line_;
};

// One place, or one's turn for it in line. Given back or left by its destructor.
class [[nodiscard]] place_queue::place {
public:
    explicit place(place_queue& from);
    place(place&& other) noexcept : from_(std::exchange(other.from_, nullptr)), turn_(std::move(other.turn_)) {}
    place& operator=(const place&) = delete;
    ~place();

    [[nodiscard]] event::operation come() noexcept;
    [[nodiscard]] bool is_here() const noexcept { return turn_ == nullptr; }

private:
    place_queue* from_;
    std::shared_ptr<turn> turn_;  // null: it never had to wait
};

template <class T>
task<T> in_turn(place_queue::place given, task<T> t) {
    auto place = std::move(given);
    if (!place.is_here()) {
        co_await place.come();
    }
    co_return co_await std::move(t);
}

}  // namespace detail

class limited_scope {
public:
    limited_scope(scope& in, detail::place_queue& places) noexcept : in_(&in), places_(&places) {}
    limited_scope(const limited_scope&) = delete;
    limited_scope& operator=(const limited_scope&) = delete;

    template <class T>
    job launch(node_name name, task<T> t, std::source_location where = std::source_location::current()) {
        return in_->launch(name, detail::in_turn(detail::place_queue::place(*places_), std::move(t)), start::scheduled,
                           where);
    }
    template <class T>
    [[nodiscard]] deferred<T> async(node_name name, task<T> t,
                                    std::source_location where = std::source_location::current()) {
        return in_->async(name, detail::in_turn(detail::place_queue::place(*places_), std::move(t)), start::scheduled,
                          where);
    }
    // The same of anything else that a task can await.
    template <class A>
        requires detail::waitable<A>
    job launch(node_name name, A&& a, std::source_location where = std::source_location::current()) {
        return launch(name, detail::as_child_task(std::forward<A>(a)), where);
    }
    template <class A>
        requires detail::waitable<A>
    [[nodiscard]] auto async(node_name name, A&& a, std::source_location where = std::source_location::current()) {
        return async(name, detail::as_child_task(std::forward<A>(a)), where);
    }
    // co_await: waits, behind those that are in line, until a place is free. Does not keep it: with one producer the next
    // launch() has it; of several, one may be faster.
    [[nodiscard]] task<> room() { return wait_for_room(*places_); }

    void cancel(reason why = reason::plain_kind(reason_kind::requested)) noexcept { in_->cancel(std::move(why)); }
    [[nodiscard]] token observe() const noexcept { return in_->observe(); }
    [[nodiscard]] std::uint32_t free_places() const noexcept { return places_->free_now(); }

private:
    static task<> wait_for_room(detail::place_queue& places) {
        detail::place_queue::place mine(places);
        if (!mine.is_here()) {
            co_await mine.come();
        }
    }

    scope* in_;
    detail::place_queue* places_;
};

namespace detail {

template <class T, class Fn, class... Args>
task<T> body_with_limit(scope& in, place_queue& places, std::optional<limited_scope>& made, Fn fn, Args... args) {
    co_return co_await std::invoke(fn, made.emplace(in, places), std::move(args)...);
}

template <class T, class Fn, class... Args>
task<T> run_with_limit(site where, std::uint32_t limit, Fn fn, Args... args) {
    place_queue places(limit);
    std::optional<limited_scope> made;  // here, because children may use it when the body has returned
    using start_function = task<T> (*)(scope&, place_queue&, std::optional<limited_scope>&, Fn, Args...);
    policy_scope<start_function, std::reference_wrapper<place_queue>, std::reference_wrapper<std::optional<limited_scope>>,
                 Fn, Args...>
        in(fail_fast_policy, "limited scope", where, &body_with_limit<T, Fn, Args...>, std::ref(places), std::ref(made),
           std::move(fn), std::move(args)...);
    co_return co_await std::move(in);
}

}  // namespace detail

// How many, and where it was written.
class place_count {
public:
    explicit(false) place_count(std::uint32_t n, std::source_location where = std::source_location::current()) noexcept
        : n_(n), where_(where) {}
    [[nodiscard]] std::uint32_t value() const noexcept { return n_; }
    [[nodiscard]] site where() const noexcept { return where_; }

private:
    std::uint32_t n_;
    site where_;
};

// co_await with_limited_scope(limit, fn, args...): like with_scope, for fn(limited_scope&, args...). A limit of zero is a
// bug, named as such.
template <class Fn, class... Args>
[[nodiscard]] auto with_limited_scope(place_count limit, Fn&& fn, Args&&... args) {
    constexpr bool is_callable = std::is_invocable_v<detail::callable_for<Fn>&, limited_scope&, std::decay_t<Args>...>;
    static_assert(is_callable,
                  "with_limited_scope(n, fn, args...): fn(limited_scope&, args...) cannot be called with these arguments, "
                  "which are passed as "
                  "copies; for a parameter that is a reference write std::ref(x)");
    if constexpr (is_callable) {
        using made = std::invoke_result_t<detail::callable_for<Fn>&, limited_scope&, std::decay_t<Args>...>;
        static_assert(detail::is_task<made>,
                      "with_limited_scope(n, fn, args...): fn(limited_scope&, args...) has to return a task");
        if (limit.value() == 0) {
            detail::refuse_no_places(limit.where());
        }
        return detail::run_with_limit<typename made::value_type, detail::callable_for<Fn>, std::decay_t<Args>...>(
            limit.where(), limit.value(), std::forward<Fn>(fn), std::forward<Args>(args)...);
    } else {
        return task<>();
    }
}

}  // namespace roost::inline ROOST_ABI
