#pragma once

// Orders N1 to N4: src/tree/node.cpp.

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>

#include <cstdint>

// An entry of a node's list: a child node, a callback, a deadline, a joiner of a job, or the marker of a walker. Links are
// guarded by the lock of the owning node. The list keeps nothing alive.

namespace roost::inline ROOST_ABI::detail {

enum class member_kind : std::uint8_t { node, callback, deadline, joiner, marker };

class member {
public:
    explicit constexpr member(member_kind kind) noexcept : kind_(kind) {}
    member(const member&) = delete;
    member& operator=(const member&) = delete;

    [[nodiscard]] member_kind kind() const noexcept { return kind_; }

protected:
    ~member() = default;

private:
    friend class member_list;
    plain<member*> next_{nullptr};
    plain<member*> prev_{nullptr};  // of the first one: the last

protected:
    // Walkers standing on or below this node; it stays linked meanwhile. Under the parent's lock.
    std::uint16_t cursors_ = 0;

private:
    member_kind kind_;

protected:
    std::uint8_t flags_ = 0;  // under the parent's lock, see node
};

// Doubly linked; deadlines first, everything else behind them. The head can be read without the lock (is_empty_now).
class member_list {
public:
    [[nodiscard]] bool is_empty() const noexcept { return first() == nullptr; }
    [[nodiscard]] member* first() const noexcept { return head_.load(mo::relaxed); }  // N1
    [[nodiscard]] static member* next_of(const member& m) noexcept { return m.next_.get(); }

    // Requires no lock. See N2 in src/tree/node.cpp.
    [[nodiscard]] bool is_empty_now() const noexcept { return head_.load(mo::seq_cst) == nullptr; }  // N2

    void push_back(member& m) noexcept {
        member* head = first();
        m.next_.set(nullptr);
        if (head == nullptr) {
            m.prev_.set(&m);
            head_.store(&m, mo::seq_cst);  // N3
            return;
        }
        member* last = head->prev_.get();
        m.prev_.set(last);
        last->next_.set(&m);
        head->prev_.set(&m);
    }

    void push_front(member& m) noexcept {
        member* head = first();
        m.next_.set(head);
        m.prev_.set(head == nullptr ? &m : head->prev_.get());
        if (head != nullptr) {
            head->prev_.set(&m);
        }
        head_.store(&m, mo::seq_cst);  // N3
    }

    void erase(member& m) noexcept {
        member* head = first();
        member* next = m.next_.get();
        member* prev = m.prev_.get();
        if (&m == head) {
            head_.store(next, mo::relaxed);  // N4
        } else {
            prev->next_.set(next);
        }
        if (next != nullptr) {
            next->prev_.set(prev);
        } else if (&m != head) {
            head->prev_.set(prev);
        }
        m.next_.set(nullptr);
        m.prev_.set(nullptr);
    }

    // Puts `stand_in` where m was.
    void replace(member& m, member& stand_in) noexcept {
        member* head = first();
        member* next = m.next_.get();
        member* prev = m.prev_.get();
        stand_in.next_.set(next);
        stand_in.prev_.set(prev == &m ? &stand_in : prev);
        if (&m == head) {
            head_.store(&stand_in, mo::relaxed);  // N4
        } else {
            prev->next_.set(&stand_in);
        }
        if (next != nullptr) {
            next->prev_.set(&stand_in);
        } else if (&m != head) {
            head->prev_.set(&stand_in);
        }
        m.next_.set(nullptr);
        m.prev_.set(nullptr);
    }

private:
    atomic<member*> head_{nullptr};
};

}  // namespace roost::inline ROOST_ABI::detail
