#pragma once

// Order D1: src/tree/deadline.cpp.

#include <roost/tree/detail/node.hpp>

namespace roost::inline ROOST_ABI::detail {

// A deadline of a node's own, for as long as this object lives. deadline() of the node and of everything below becomes the
// earliest deadline on the way up to a shield. Reading it is one load; changing it visits the affected part of the subtree.
// It is not a timer: the code that sets it arms one, also if an ancestor's deadline is earlier. An ignore guard in between
// may delay the ancestor's cancel.
enum class deadline_kind : std::uint8_t {
    limit,  // when it passes, the node is cancelled: by its timer, or by cancel_passed()
    advice,  // only shown
};

// A new time for a deadline: absolute, relative to now, or relative to the old one. A plain value.
class deadline_change {
public:
    [[nodiscard]] static constexpr deadline_change to(time_point at) noexcept {
        return {from::nothing, at.time_since_epoch()};
    }
    [[nodiscard]] static constexpr deadline_change in(duration d) noexcept { return {from::now, d}; }
    [[nodiscard]] static constexpr deadline_change by(duration d) noexcept { return {from::before, d}; }

    // Returns the new time, saturated. No deadline moved by a duration stays no deadline.
    [[nodiscard]] constexpr time_point applied(time_point before, time_point now) const noexcept {
        switch (from_) {
            case from::nothing: return time_point(span_);
            case from::now: return deadline_after(now, span_);
            case from::before: return before == no_deadline ? no_deadline : deadline_after(before, span_);
        }
        return before;
    }

private:
    enum class from : std::uint8_t { nothing, now, before };
    constexpr deadline_change(from f, duration span) noexcept : from_(f), span_(span) {}
    from from_;
    duration span_;
};

// The result of moving a deadline.
enum class [[nodiscard]] deadline_move : std::uint8_t {
    moved,
    passed_now,  // moved to a time that has passed: the caller cancels the node
    passed_before,  // nothing happened; if no other thread has done so, the caller cancels the node
    ended,  // nothing happened: the deadline has ended
};

// Requires that its owner keeps the node alive.
class own_deadline : private member {
public:
    own_deadline(node& of, time_point at, deadline_kind kind = deadline_kind::limit) noexcept;
    own_deadline(const own_deadline&) = delete;
    own_deadline& operator=(const own_deadline&) = delete;
    ~own_deadline() {
        if ((facts_.load(mo::relaxed) & ended) == 0) {  // D1
            end();
        }
    }

    // Changes nothing if it has passed or ended. A limit passes once: by try_pass(), by cancel_passed(), or here,
    // in the first of these calls that finds its time has come. From any thread.
    deadline_move try_move(const deadline_change& to, time_point now) noexcept;
    // Returns true if the limit has passed, or passes now because it is at or before `at`: the caller cancels the node.
    // Thread-safe.
    [[nodiscard]] bool try_pass(time_point at) noexcept;
    // Returns true if it has neither passed nor ended.
    [[nodiscard]] bool is_pending() const noexcept { return facts_.load(mo::relaxed) == 0; }  // D1
    [[nodiscard]] bool has_passed() const noexcept { return (facts_.load(mo::relaxed) & passed) != 0; }  // D1
    // Ends the deadline, once: the node no longer has it, and it neither passes nor moves any more. The object may live on.
    void end() noexcept;

    [[nodiscard]] time_point at() const noexcept { return time_point(duration(at_.load(mo::relaxed))); }  // D1
    [[nodiscard]] deadline_kind kind() const noexcept { return kind_; }

private:
    friend struct deadline_access;
    node* const of_;
    atomic<std::int64_t> at_;
    const deadline_kind kind_;
    static constexpr std::uint8_t passed = 1;
    static constexpr std::uint8_t ended = 2;
    atomic<std::uint8_t> facts_{0};  // changed under the lock of the node
};

// Cancels, with the reason `timeout`, every node from n up to the nearest shield whose own limit is at or before `at`. For a
// body that reads the clock before the timer fires. Thread-safe; requires that the caller keeps n in memory.
void cancel_passed(node& n, time_point at) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
