#pragma once

// Runs one computation per key at a time, and shares its result.
//
//   coalescer<std::string, page> pages(s);
//   page p = co_await pages.coalesce(url, fetch);
//
// While fn(key) runs, every coalesce() call with that key waits for its result. Such a caller is a getter. The first call
// after fn has ended starts fn again. The computations are children of the scope. Cancelling a getter affects neither the
// computation nor the other getters. A failure is thrown to every getter, and its further failures travel with it. If no
// getter receives it, it goes to the failure sink. If a computation ends cancelled, its getters end cancelled. The coalescer
// may be destroyed before its computations have ended. Thread-safe.
//
// One thread at a time compares keys; a getter that has to wait for it is suspended. No spin lock is held while a key is
// compared, copied or destroyed, so this may take long. An exception from a comparison is thrown to the getter that caused
// it.

#include <roost/flow/detail/unheard_failures.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI {

template <class Key, class T, class Less = std::less<Key>>
class coalescer {
    using result = outcome<T>;

public:
    explicit coalescer(scope& in, node_name name = "coalesced") : table_(std::make_shared<flights>(in, name)) {}
    coalescer(const coalescer&) = delete;
    coalescer& operator=(const coalescer&) = delete;

    // Returns the result for key. Calls fn(key), a task<T>, if no computation of this key is running.
    template <class Fn>
    [[nodiscard]] task<T> coalesce(Key key, Fn fn) {
        return get(table_, std::move(key), std::move(fn));
    }
    // Returns the number of keys whose computation is running.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard guard(table_->lock);
        return table_->size;
    }

private:
    class flights;

    // Does not use `this`: the coalescer may be destroyed while a getter waits.
    template <class Fn>
    static task<T> get(std::shared_ptr<flights> table, Key key, Fn fn) {
        bool is_mine = false;
        std::shared_ptr<flight> joined;
        {
            const tidying later(*table);
            const auto held = co_await table->access.lock();
            joined = table->find_or_add(key, is_mine);
        }
        if (is_mine) {
            start(table, joined, key, std::move(fn));
        }
        co_await joined->started.wait();
        if (joined->failure) {
            std::rethrow_exception(joined->failure);
        }
        const result& got = co_await joined->shared;
        if (got.has_error()) {
            joined->heard.store(true, seam::mo::relaxed);  // H1
            for (const std::exception_ptr& other : got.others()) {
                co_await detail::carry_failure(got.error(), other);
            }
            std::rethrow_exception(got.error());
        }
        if (got.is_cancelled()) {
            co_await detail::end_cancelled(got.why());
        }
        if constexpr (!std::is_void_v<T>) {
            co_return got.value();
        }
    }

    class slot;

    // One computation. `started` is set when `shared` or `failure` is set.
    //
    // id  operation           order    pairs  carries                                                    fails in
    // H1  heard: store, load  relaxed  -      only the fact: the reader is the last holder of the flight  (floor)
    class flight {
    public:
        flight() = default;
        flight(const flight&) = delete;
        flight& operator=(const flight&) = delete;
        ~flight() {
            if (!heard.load(seam::mo::relaxed)) {  // H1
                detail::report_unheard(failed);
            }
        }
        event started{"coalesced start"};
        shared_deferred<result> shared;
        std::exception_ptr failure;
        seam::atomic<bool> heard{false};
        std::vector<std::exception_ptr> failed;  // of the computation
        slot* in = nullptr;  // null: erased
    };

    using map = std::map<Key, slot, Less>;
    // The table's entry of a key. The lock protects all members but `self`.
    class slot {
    public:
        slot() = default;
        std::shared_ptr<flight> now;  // empty: its computation has ended, and the key will be erased
        slot* next = nullptr;
        bool is_listed = false;
        typename map::iterator self;
    };

    // Shared with the computations, which may outlive the coalescer. Using the map calls the user's comparison, so it
    // requires `access`, a mutex for coroutines. The end of a computation cannot wait for `access`: it puts its slot on a
    // list. The next holder of `access`, or a caller that finds it free, erases the keys.
    class flights {
    public:
        flights(scope& where, node_name text) : in(&where), name(text.text()) {}
        // Requires `access`.
        std::shared_ptr<flight> find_or_add(const Key& key, bool& is_mine) {
            auto fresh = std::make_shared<flight>();
            const auto place = running.try_emplace(key).first;
            slot& found = place->second;
            found.self = place;
            fresh->in = &found;
            const std::lock_guard guard(lock);
            is_mine = !found.now;
            if (is_mine) {
                found.now = std::move(fresh);
                ++size;
            }
            return found.now;
        }
        void take_out(flight& mine) noexcept {
            std::shared_ptr<flight> last;  // destroyed outside the lock
            {
                const std::lock_guard guard(lock);
                if (mine.in == nullptr) {
                    return;
                }
                slot& left = *std::exchange(mine.in, nullptr);
                last = std::move(left.now);
                --size;
                if (!left.is_listed) {
                    left.is_listed = true;
                    left.next = std::exchange(ended_, &left);
                }
            }
            tidy();
        }
        void tidy() noexcept {
            while (has_ended()) {
                typename map::node_type gone;  // destroyed without `access`
                const auto held = access.try_lock();
                if (!held) {
                    return;  // the holder of `access` checks again after it has released it
                }
                if (slot* dead = pop_ended()) {
                    gone = running.extract(dead->self);
                }
            }
        }
        scope* const in;
        const std::string name;  // of the computations
        mutex access{"coalescer"};
        seam::small_mutex lock;
        map running;
        std::size_t size = 0;

    private:
        bool has_ended() noexcept {
            const std::lock_guard guard(lock);
            return ended_ != nullptr;
        }
        // Requires `access`. Skips keys that are being computed again.
        slot* pop_ended() noexcept {
            const std::lock_guard guard(lock);
            while (slot* first = ended_) {
                ended_ = first->next;
                first->is_listed = false;
                if (!first->now) {
                    return first;
                }
            }
            return nullptr;
        }
        slot* ended_ = nullptr;
    };
    class tidying {
    public:
        explicit tidying(flights& of) noexcept : of_(&of) {}
        tidying(const tidying&) = delete;
        tidying& operator=(const tidying&) = delete;
        ~tidying() { of_->tidy(); }

    private:
        flights* of_;
    };

    // Erases the key when the computation's frame is destroyed, also if it never ran.
    class registration {
    public:
        registration(std::shared_ptr<flights> from, Key key, std::shared_ptr<flight> mine)
            : from_(std::move(from)), key_(std::move(key)), mine_(std::move(mine)) {}
        registration(registration&& other) noexcept
            : from_(std::move(other.from_)), key_(std::move(other.key_)), mine_(std::move(other.mine_)) {}
        ~registration() {
            if (from_) {
                from_->take_out(*mine_);
            }
        }
        [[nodiscard]] const Key& key() const noexcept { return key_; }
        void keep(const result& ended) { detail::keep_failures(mine_->failed, ended.error(), ended.others()); }

    private:
        std::shared_ptr<flights> from_;
        Key key_;
        std::shared_ptr<flight> mine_;  // kept alive: the getters may be destroyed
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
    static void start(const std::shared_ptr<flights>& table, const std::shared_ptr<flight>& mine, const Key& key,
                      Fn fn) noexcept {
        try {
            auto child = table->in->async(table->name, compute(registration(table, key, mine), std::move(fn)));
            child.keep();
            mine->shared = shared_deferred<result>(std::move(child));
        } catch (...) {
            mine->failure = std::current_exception();
            table->take_out(*mine);  // no effect if the registration has done so
        }
        mine->started.set();
    }

    std::shared_ptr<flights> table_;
};

}  // namespace roost::inline ROOST_ABI
