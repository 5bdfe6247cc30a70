#pragma once

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::ext {

// An item that an executor runs once. Intrusive: it lives in a suspended awaiter or a job, so posting allocates nothing. The
// executor owns the link from post() until run(). Once run() is called, the executor does not touch the object again. So
// run() may destroy it.
class work {
public:
    using run_function = void (*)(work&) noexcept;

    constexpr explicit work(run_function function) noexcept : next(nullptr), run_(function) {}
    // Requires set_run() before it is posted.
    constexpr explicit work(seam::unset_t) noexcept {}
    work(const work&) = delete;
    work& operator=(const work&) = delete;

    void run() noexcept { run_(*this); }
    // Changes what the next run() does. Requires that it is not posted.
    void set_run(run_function function) noexcept { run_ = function; }

    // For executors: the link of their queue.
    work* next;

private:
    run_function run_;
};

// A first-in, first-out list of work. Not thread-safe.
class work_list {
public:
    [[nodiscard]] bool is_empty() const noexcept { return head_ == nullptr; }

    void push(work& w) noexcept {
        w.next = nullptr;
        if (tail_ == nullptr) {
            head_ = &w;
        } else {
            tail_->next = &w;
        }
        tail_ = &w;
    }
    void push_front(work& w) noexcept {
        w.next = head_;
        head_ = &w;
        if (tail_ == nullptr) {
            tail_ = &w;
        }
    }
    work* pop() noexcept {
        work* first = head_;
        if (first != nullptr) {
            head_ = first->next;
            if (head_ == nullptr) {
                tail_ = nullptr;
            }
            first->next = nullptr;
        }
        return first;
    }
    void append(work_list& other) noexcept {
        if (other.head_ == nullptr) {
            return;
        }
        if (tail_ == nullptr) {
            head_ = other.head_;
        } else {
            tail_->next = other.head_;
        }
        tail_ = other.tail_;
        other.head_ = other.tail_ = nullptr;
    }

private:
    work* head_ = nullptr;
    work* tail_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::ext
