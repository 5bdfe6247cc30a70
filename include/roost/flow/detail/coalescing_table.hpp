#pragma once

// The running computations of a coalescer, by key.

#include <roost/base/outcome.hpp>
#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// Reports the failures of a computation that no getter waits for any more.
void report_unreceived(const std::vector<std::exception_ptr>& failures, std::string_view name, site made_at) noexcept;
// Adds a failure and its further failures. Reports them at once if memory runs out.
void keep_failures(std::vector<std::exception_ptr>& in, const std::exception_ptr& error,
                   const std::vector<std::exception_ptr>& others, std::string_view name, site made_at) noexcept;

// Shared with the computations, which may outlive the coalescer. Using the map calls the user's comparison, so it requires
// `access`, a mutex for coroutines. The end of a computation cannot wait for `access`: it puts its entry on a list. The next
// holder of `access`, or a caller that finds it free, erases the keys.
template <class Key, class T, class Less>
class coalescing_table {
    class entry;
    using map = std::map<Key, entry, Less>;

public:
    class computation;

    coalescing_table(scope& in, node_name name, std::source_location made_at)
        : in_(&in), name_(name.text()), made_at_(made_at) {}
    coalescing_table(const coalescing_table&) = delete;
    coalescing_table& operator=(const coalescing_table&) = delete;

    [[nodiscard]] scope& in() const noexcept { return *in_; }
    // Returns the name and the site of the computations.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::source_location made_at() const noexcept { return made_at_; }
    // Returns the number of keys whose computation is running.
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard guard(lock_);
        return size_;
    }

    // Requires `access`. Sets is_mine if the computation is new: the caller starts it.
    [[nodiscard]] std::shared_ptr<computation> find_or_add(const Key& key, bool& is_mine) {
        auto fresh = std::make_shared<computation>(*this);
        const auto at = running_.try_emplace(key).first;
        entry& found = at->second;
        found.self = at;
        fresh->in_ = &found;
        const std::lock_guard guard(lock_);
        is_mine = !found.now;
        if (is_mine) {
            found.now = std::move(fresh);
            ++size_;
        }
        return found.now;
    }
    // Has no effect if the computation was removed before.
    void remove(computation& mine) noexcept {
        std::shared_ptr<computation> last;  // destroyed outside the lock
        {
            const std::lock_guard guard(lock_);
            if (mine.in_ == nullptr) {
                return;
            }
            entry& left = *std::exchange(mine.in_, nullptr);
            last = std::move(left.now);
            --size_;
            if (!left.is_listed) {
                left.is_listed = true;
                left.next = std::exchange(ended_, &left);
            }
        }
        erase_ended();
    }
    void erase_ended() noexcept {
        while (has_ended()) {
            typename map::node_type gone;  // destroyed without `access`
            const auto held = access.try_lock();
            if (!held) {
                return;  // the holder of `access` checks again after it has released it
            }
            if (entry* dead = pop_ended()) {
                gone = running_.extract(dead->self);
            }
        }
    }

    mutex access{"coalescer"};

private:
    [[nodiscard]] bool has_ended() noexcept {
        const std::lock_guard guard(lock_);
        return ended_ != nullptr;
    }
    // Requires `access`. Skips keys that are being computed again.
    [[nodiscard]] entry* pop_ended() noexcept {
        const std::lock_guard guard(lock_);
        while (entry* first = ended_) {
            ended_ = first->next;
            first->is_listed = false;
            if (!first->now) {
                return first;
            }
        }
        return nullptr;
    }

    scope* const in_;
    const std::string name_;
    const std::source_location made_at_;
    mutable seam::small_mutex lock_;
    map running_;
    std::size_t size_ = 0;
    entry* ended_ = nullptr;
};

// One computation. `started` is set when `shared` or `failure` is set. Its holders hold the table too.
//
// id  operation               order    pairs  carries                                                         fails in
// H1  received: store, load   relaxed  -      only the fact: the reader is the computation's last holder      (floor)
template <class Key, class T, class Less>
class coalescing_table<Key, T, Less>::computation {
public:
    explicit computation(const coalescing_table& of) noexcept : of_(&of) {}
    computation(const computation&) = delete;
    computation& operator=(const computation&) = delete;
    ~computation() {
        if (!is_received_.load(seam::mo::relaxed)) {  // H1
            report_unreceived(failures_, of_->name(), of_->made_at());
        }
    }
    // Called by a getter that throws the computation's failure.
    void set_received() noexcept { is_received_.store(true, seam::mo::relaxed); }  // H1
    // Called at the computation's end.
    void keep(const outcome<T>& ended) noexcept {
        keep_failures(failures_, ended.error(), ended.others(), of_->name(), of_->made_at());
    }

    event started{"coalesced start"};
    shared_deferred<outcome<T>> shared;
    std::exception_ptr failure;  // it could not be started

private:
    friend coalescing_table;
    const coalescing_table* of_;
    seam::atomic<bool> is_received_{false};
    std::vector<std::exception_ptr> failures_;
    entry* in_ = nullptr;  // null: removed
};

// The lock protects all members but `self`.
template <class Key, class T, class Less>
class coalescing_table<Key, T, Less>::entry {
public:
    entry() = default;
    std::shared_ptr<computation> now;  // empty: its computation has ended, and the key will be erased
    entry* next = nullptr;
    bool is_listed = false;
    typename map::iterator self;
};

}  // namespace roost::inline ROOST_ABI::detail
