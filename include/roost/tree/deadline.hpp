#pragma once

#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI {

// A deadline of a node's own, for as long as this object lives. deadline() of the node and of everything below becomes the
// least of all deadlines on the way up to a shield; asking is one load, changing visits the subtree as far as it matters.
// It is a promise about time, not a timer: whoever sets it arms one. That an ancestor's comes earlier is no reason to do without:
// something in between may hold the ancestor's cancel up, as an ignore guard does.
enum class deadline_kind : std::uint8_t {
    limit,  // when it passes the node is cancelled: by its timer, or by cancel_passed()
    advice,  // only told
};

// Where a deadline is moved to: a time, a time from now on, or so much later than before. A plain value.
class deadline_change {
public:
    [[nodiscard]] static constexpr deadline_change to(time_point at) noexcept {
        return {from::nothing, at.time_since_epoch()};
    }
    [[nodiscard]] static constexpr deadline_change in(duration d) noexcept { return {from::now, d}; }
    [[nodiscard]] static constexpr deadline_change by(duration d) noexcept { return {from::before, d}; }

    // Saturates. No deadline stays none when it is moved by something.
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

// What came of moving it.
enum class [[nodiscard]] deadline_move : std::uint8_t {
    moved,
    passed_now,  // it was moved to a time that has passed: the caller cancels the node
    passed_before,  // nothing happened; if no other thread has done so, the caller cancels the node
    ended,  // nothing happened: there is no such deadline any more
};

// The owner keeps the node alive.
class own_deadline : private detail::member {
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
    // Returns true if it has passed, or passes now because it is at or before `at`: the caller cancels the node. From any thread.
    [[nodiscard]] bool try_pass(time_point at) noexcept;
    // Returns true if it has neither passed nor ended.
    [[nodiscard]] bool is_pending() const noexcept { return facts_.load(mo::relaxed) == 0; }  // D1
    [[nodiscard]] bool has_passed() const noexcept { return (facts_.load(mo::relaxed) & passed) != 0; }  // D1
    // It is over, once: the node has it no longer, and it passes and moves no more. The object may live on.
    void end() noexcept;

    [[nodiscard]] time_point at() const noexcept { return time_point(duration(at_.load(mo::relaxed))); }  // D1
    [[nodiscard]] deadline_kind kind() const noexcept { return kind_; }

private:
    friend struct detail_deadline_access;
    node* const of_;
    atomic<std::int64_t> at_;
    const deadline_kind kind_;
    static constexpr std::uint8_t passed = 1;
    static constexpr std::uint8_t ended = 2;
    atomic<std::uint8_t> facts_{0};  // changed under the lock of the node
};

// Cancels, with the reason `timeout`, every node from n up to the nearest shield whose own limit is at or before `at`: for a
// body that looks at the clock before the timer's thread does. From any thread that keeps n in memory.
void cancel_passed(node& n, time_point at) noexcept;

}  // namespace roost::inline ROOST_ABI
