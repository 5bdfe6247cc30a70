#pragma once

#include <roost/base/assert.hpp>

#include <utility>

// Doubly linked circular list whose links live in the elements. Allocates nothing; unlinks from the middle in O(1).
// Not thread-safe. The list never owns its elements.

namespace roost::inline ROOST_ABI::detail {

class list_hook {
public:
    constexpr list_hook() noexcept = default;
    list_hook(const list_hook&) = delete;
    list_hook& operator=(const list_hook&) = delete;

    [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }

private:
    template <class T>
    friend class intrusive_list;

    list_hook* next_ = nullptr;
    list_hook* prev_ = nullptr;
};

// T derives from list_hook.
template <class T>
class intrusive_list {
public:
    constexpr intrusive_list() noexcept = default;
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;
    ~intrusive_list() { ROOST_ASSERT(is_empty(), "an intrusive list was destroyed with elements in it"); }

    [[nodiscard]] bool is_empty() const noexcept { return head_ == nullptr; }
    [[nodiscard]] T* front() const noexcept { return static_cast<T*>(head_); }
    [[nodiscard]] T* back() const noexcept { return head_ == nullptr ? nullptr : static_cast<T*>(head_->prev_); }
    [[nodiscard]] T* next_of(const T& element) const noexcept {
        list_hook* next = static_cast<const list_hook&>(element).next_;
        return next == head_ ? nullptr : static_cast<T*>(next);
    }

    void push_back(T& element) noexcept {
        list_hook& hook = element;
        ROOST_ASSERT(!hook.is_linked(), "an element may be in at most one list");
        if (head_ == nullptr) {
            hook.next_ = hook.prev_ = &hook;
            head_ = &hook;
        } else {
            hook.next_ = head_;
            hook.prev_ = head_->prev_;
            head_->prev_->next_ = &hook;
            head_->prev_ = &hook;
        }
    }
    void push_front(T& element) noexcept {
        push_back(element);
        head_ = &static_cast<list_hook&>(element);
    }

    // Requires that the element is in this list.
    void erase(T& element) noexcept {
        list_hook& hook = element;
        ROOST_ASSERT(hook.is_linked(), "only a linked element can be erased");
        if (hook.next_ == &hook) {
            head_ = nullptr;
        } else {
            hook.prev_->next_ = hook.next_;
            hook.next_->prev_ = hook.prev_;
            if (head_ == &hook) {
                head_ = hook.next_;
            }
        }
        hook.next_ = hook.prev_ = nullptr;
    }

    T* pop_front() noexcept {
        T* first = front();
        if (first != nullptr) {
            erase(*first);
        }
        return first;
    }

    // Moves every element of other to the end of this list, in order, in constant time.
    void splice_back(intrusive_list& other) noexcept {
        if (other.head_ == nullptr) {
            return;
        }
        if (head_ == nullptr) {
            head_ = std::exchange(other.head_, nullptr);
            return;
        }
        list_hook* first = std::exchange(other.head_, nullptr);
        list_hook* last = first->prev_;
        first->prev_ = head_->prev_;
        head_->prev_->next_ = first;
        last->next_ = head_;
        head_->prev_ = last;
    }

private:
    list_hook* head_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
