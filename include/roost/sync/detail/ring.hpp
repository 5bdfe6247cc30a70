#pragma once

// A queue of values in one block of memory. Not thread-safe. Growing takes two steps, so that the owner allocates and frees
// outside its lock.

#include <roost/base/assert.hpp>
#include <roost/base/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class ring {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "values that are handed between waiters must be movable without throwing");

public:
    ring() noexcept = default;
    explicit ring(std::size_t capacity)
        : slots_(capacity == 0 ? nullptr : static_cast<T*>(allocate(size_of(capacity), alignof(T)))), capacity_(capacity) {}
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() {
        while (size_ > 0) {
            drop_front();
        }
        if (slots_ != nullptr) {
            deallocate(slots_, capacity_ * sizeof(T), alignof(T));
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] bool is_full() const noexcept { return size_ == capacity_; }
    [[nodiscard]] T& front() noexcept { return slots_[first_]; }
    [[nodiscard]] T& at(std::size_t i) noexcept { return slots_[index_of(i)]; }

    void push_back(T&& value) noexcept {
        ROOST_ASSERT(!is_full(), "a value was pushed into a full ring");
        std::construct_at(&slots_[index_of(size_)], std::move(value));
        ++size_;
    }
    void push_front(T&& value) noexcept {
        ROOST_ASSERT(!is_full(), "a value was pushed into a full ring");
        first_ = first_ == 0 ? capacity_ - 1 : first_ - 1;
        std::construct_at(&slots_[first_], std::move(value));
        ++size_;
    }
    [[nodiscard]] T pop_front() noexcept {
        T value(std::move(front()));
        drop_front();
        return value;
    }
    void drop_front() noexcept {
        std::destroy_at(&slots_[first_]);
        first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
        --size_;
    }

    // Moves all values into `larger`, which must be empty, and swaps the two.
    void move_into(ring& larger) noexcept {
        while (size_ > 0) {
            larger.push_back(std::move(front()));
            drop_front();
        }
        std::swap(slots_, larger.slots_);
        std::swap(capacity_, larger.capacity_);
        std::swap(first_, larger.first_);
        std::swap(size_, larger.size_);
    }

private:
    // Throws std::bad_array_new_length if the size exceeds PTRDIFF_MAX.
    [[nodiscard]] static std::size_t size_of(std::size_t capacity) {
        if (capacity > PTRDIFF_MAX / sizeof(T)) {
            throw std::bad_array_new_length();
        }
        return capacity * sizeof(T);
    }
    [[nodiscard]] std::size_t index_of(std::size_t i) const noexcept {
        const std::size_t p = first_ + i;
        return p >= capacity_ ? p - capacity_ : p;
    }

    T* slots_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace roost::inline ROOST_ABI::detail
