#pragma once

// The slots of a scope with a limit: a child runs when it has one, and queues in order of launch until then.

#include <roost/base/detail/intrusive_list.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/task.hpp>

#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class launch_limit {
public:
    class slot;

    explicit launch_limit(std::uint32_t slots) noexcept : free_(slots) {}
    launch_limit(const launch_limit&) = delete;
    launch_limit& operator=(const launch_limit&) = delete;

    [[nodiscard]] std::uint32_t free_now() const noexcept;

private:
    // An entry in the queue. The thread that hands off a slot shares it, because its owner may end as soon as the event is
    // set.
    class entry : public list_hook, public std::enable_shared_from_this<entry> {
    public:
        entry() noexcept = default;
        event granted{"slot"};
    };

    void give_back() noexcept;
    void leave(entry& mine) noexcept;

    mutable small_mutex lock_;
    std::uint32_t free_;
    intrusive_list<entry> queue_;
};

// A slot, or a queue entry for one. The destructor gives the slot back or leaves the queue.
class [[nodiscard]] launch_limit::slot {
public:
    explicit slot(launch_limit& from);
    slot(slot&& other) noexcept : from_(std::exchange(other.from_, nullptr)), entry_(std::move(other.entry_)) {}
    slot& operator=(const slot&) = delete;
    ~slot();

    // Returns true if the slot was free when this was made.
    [[nodiscard]] bool is_immediate() const noexcept { return entry_ == nullptr; }
    // Requires !is_immediate(). Completes when the slot is handed off.
    [[nodiscard]] event::operation granted() noexcept;

private:
    launch_limit* from_;
    std::shared_ptr<entry> entry_;
};

// The body of a child: begins when it has its slot and keeps the slot until it ends.
template <class T>
task<T> run_in_slot(launch_limit::slot given, task<T> t) {
    auto slot = std::move(given);
    if (!slot.is_immediate()) {
        co_await slot.granted();
    }
    co_return co_await std::move(t);
}
// Waits for a free slot and does not keep it. A null limit is no limit.
[[nodiscard]] task<> wait_for_room(launch_limit* limit);

}  // namespace roost::inline ROOST_ABI::detail
