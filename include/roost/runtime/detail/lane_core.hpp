#pragma once

#include <roost/base/atomic.hpp>
#include <roost/runtime/blocking_lane.hpp>

#include <array>

// The state that a blocking lane and its threads share. Everything is under one lock: a thread switch costs a hundred times
// more than the lock. No thread is joined and no foreign code is called under it.
//
// States of a member   busy, waiting for a task, or idle; then ended: its thread no longer touches the member and can be joined.
//                      An abandoned member belongs to its thread, which deletes it.

namespace roost::inline ROOST_ABI::detail {

class lane_core : public std::enable_shared_from_this<lane_core> {
public:
    lane_core(std::size_t limit, std::string_view name, duration keep_idle);
    lane_core(const lane_core&) = delete;
    lane_core& operator=(const lane_core&) = delete;

    bool submit(blocking_work& w) noexcept;
    bool withdraw(blocking_work& w) noexcept;
    std::vector<lane_entry> close(duration patience) noexcept;

    [[nodiscard]] std::vector<lane_entry> running() const;
    [[nodiscard]] static const lane_core* of_this_thread() noexcept;
    [[nodiscard]] static bool may_deliver() noexcept;
    static void has_delivered() noexcept;
    [[nodiscard]] std::size_t threads() const noexcept;
    [[nodiscard]] std::size_t queued() const noexcept;
    [[nodiscard]] std::size_t busy() const noexcept;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    struct member;

    static member*& this_member() noexcept;

    // Called under lock_.
    void push(blocking_work& w) noexcept;
    blocking_work* pop() noexcept;
    void unlink(blocking_work& w) noexcept;
    bool start_thread() noexcept;
    [[nodiscard]] bool is_surplus() const noexcept;
    [[nodiscard]] lane_entry describe(const member& m, time_point at) const;
    [[nodiscard]] bool is_delivering() const noexcept;
    void name_queued(std::vector<lane_entry>& left) const noexcept;
    void abandon_members(std::vector<lane_entry>& left, time_point at) noexcept;

    void grow_if_stuck() noexcept;
    void run(member& me) noexcept;
    void run_one(member& me, blocking_work& w) noexcept;
    bool sleep(time_point until) noexcept;
    void leave(member& me) noexcept;
    void join_ended(time_point limit) noexcept;
    void wait_until_ended(duration patience) noexcept;

    mutable small_mutex lock_;
    blocking_work* first_ = nullptr;
    blocking_work* last_ = nullptr;
    std::size_t queued_ = 0;
    std::size_t limit_;
    std::size_t live_ = 0;
    std::size_t idle_ = 0;
    std::size_t waiting_ = 0;  // threads that wait for tasks
    bool closed_ = false;
    bool grew_ = false;  // beyond its limit, and has logged it
    time_point last_end_ = time_point::min();  // end of any work, or the last growth
    atomic<std::uint32_t> called_{0};  // changes when an idle thread has to check the queue
    atomic<std::uint32_t> ended_{0};  // changes when a thread or a piece of work has ended
    member* members_ = nullptr;
    duration keep_idle_;
    std::string name_;
};

}  // namespace roost::inline ROOST_ABI::detail
