#pragma once

// Same key, one computation.
//
//   coalescer<std::string, page> pages(s);
//   page p = co_await pages.coalesce(url, fetch);
//
// While fn(key) runs, every coalesce() call with that key waits for its result. The first call after it has ended starts fn
// again. The computations are children of the scope: a getter that is cancelled leaves them, and the other getters, alone.
// A failure reaches every getter, with what failed beside it, and only them; when no getter is left it goes to the failure
// sink. A computation that ends cancelled ends its getters cancelled. The coalescer may go before its computations have ended. From any thread.
// Keys are compared, copied and destroyed outside every lock, by one thread at a time; a getter that has to wait for that is
// suspended. What a comparison throws reaches the getter that asked.

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

    // fn(key), a task<T>, is called if no computation of this key is under way.
    template <class Fn>
    [[nodiscard]] task<T> coalesce(Key key, Fn fn) {
        return get(table_, std::move(key), std::move(fn));
    }
    // How many keys are being computed now.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard guard(table_->lock);
        return table_->size;
    }

private:
    class flights;

    // Without `this`: the coalescer may go while a getter waits.
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

    // `started` says that one of the next two is there.
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
        std::vector<std::exception_ptr> failed;  // the computation's, until it has ended
        slot* in = nullptr;  // until it has been taken out
    };

    using map = std::map<Key, slot, Less>;
    // What the table knows of a key. All but `self` is guarded by the lock.
    class slot {
    public:
        slot() = default;
        std::shared_ptr<flight> now;  // empty: its computation has ended, and the key is to be taken out
        slot* next = nullptr;
        bool is_listed = false;
        typename map::iterator self;
    };

    // Shared with the computations: they may outlive the coalescer. Only a holder of `access`, a mutex for coroutines, uses
    // the map, because that calls the user's comparison. The end of a computation cannot wait for that: it leaves its
    // slot in a list, and the next holder of `access`, or a caller that finds it free, takes the keys out.
    class flights {
    public:
        flights(scope& where, node_name text) : in(&where), name(text.text()) {}
        // With `access`.
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
            std::shared_ptr<flight> last;  // goes outside the lock
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
                    return;  // its holder looks afterwards
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
        // With `access`. Skips keys that are being computed again.
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

    // Takes the key out when the computation's frame goes, whether or not it ever ran.
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
        std::shared_ptr<flight> mine_;  // the getters may have gone
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
            table->take_out(*mine);  // unless the registration has done so
        }
        mine->started.set();
    }

    std::shared_ptr<flights> table_;
};

}  // namespace roost::inline ROOST_ABI
