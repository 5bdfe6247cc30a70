#pragma once

// One call of coalescer::coalesce(): the getter, and the computation that it starts.

#include <roost/flow/detail/coalescing_table.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/policy_scope.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class Key, class T, class Less>
class coalescing {
public:
    using table = coalescing_table<Key, T, Less>;

    // Does not use the coalescer, which may be destroyed while a getter waits.
    template <class Fn>
    static task<T> get(std::shared_ptr<table> from, Key key, Fn fn) {
        bool is_mine = false;
        std::shared_ptr<computation> joined;
        {
            const erase_later later(*from);
            const auto held = co_await from->access.lock();
            joined = from->find_or_add(key, is_mine);
        }
        if (is_mine) {
            start(from, joined, key, fn);
        }
        co_await joined->started.wait();
        if (joined->failure) {
            std::rethrow_exception(joined->failure);
        }
        const result& got = co_await joined->shared;
        if (got.has_error()) {
            joined->set_received();
            for (const std::exception_ptr& other : got.others()) {
                co_await carry_failure(got.error(), other);
            }
            std::rethrow_exception(got.error());
        }
        if (got.is_cancelled()) {
            co_await end_cancelled(got.why());
        }
        if constexpr (!std::is_void_v<T>) {
            co_return got.value();
        }
    }

private:
    using computation = typename table::computation;
    using result = outcome<T>;

    // Erases the ended keys when the caller has released `access`.
    class erase_later {
    public:
        explicit erase_later(table& of) noexcept : of_(&of) {}
        erase_later(const erase_later&) = delete;
        erase_later& operator=(const erase_later&) = delete;
        ~erase_later() { of_->erase_ended(); }

    private:
        table* of_;
    };

    // Removes the computation from the table when its frame is destroyed, also if it never ran.
    class registration {
    public:
        registration(std::shared_ptr<table> from, Key key, std::shared_ptr<computation> mine)
            : from_(std::move(from)), key_(std::move(key)), mine_(std::move(mine)) {}
        registration(registration&& other) noexcept
            : from_(std::move(other.from_)), key_(std::move(other.key_)), mine_(std::move(other.mine_)) {}
        ~registration() {
            if (from_) {
                from_->remove(*mine_);
            }
        }
        [[nodiscard]] const Key& key() const noexcept { return key_; }
        void keep(const result& ended) noexcept { mine_->keep(ended); }

    private:
        std::shared_ptr<table> from_;
        Key key_;
        std::shared_ptr<computation> mine_;  // kept alive: the getters may be destroyed
    };

    template <class Fn>
    static task<result> compute(registration mine, Fn fn) {
        result ended;
        try {
            task<T> t = std::invoke(fn, mine.key());
            ended = co_await as_outcome(std::move(t));
        } catch (...) {
            ended = result(std::current_exception());
        }
        if (ended.has_error()) {
            mine.keep(ended);
        }
        co_return ended;
    }

    template <class Fn>
    static void start(const std::shared_ptr<table>& from, const std::shared_ptr<computation>& mine, const Key& key,
                      Fn& fn) noexcept {
        try {
            auto child = from->in().async(from->name(), compute(registration(from, key, mine), std::move(fn)),
                                          roost::start::scheduled, from->made_at());
            child.keep();
            mine->shared = shared_deferred<result>(std::move(child));
        } catch (...) {
            mine->failure = std::current_exception();
            from->remove(*mine);  // no effect if the registration has done so
        }
        mine->started.set();
    }
};

}  // namespace roost::inline ROOST_ABI::detail
