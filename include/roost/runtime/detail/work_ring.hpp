#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/work.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace roost::inline ROOST_ABI::detail {

// The work of a single thread: newest first out of the back, oldest first out of the front. Grows; never shrinks.
class work_ring {
public:
    work_ring() = default;
    work_ring(const work_ring&) = delete;
    work_ring& operator=(const work_ring&) = delete;
    ~work_ring() {
        if (slots_ != nullptr) {
            deallocate(static_cast<void*>(slots_), capacity_ * sizeof(work*));
        }
    }

    [[nodiscard]] bool is_empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }

    // Returns false without memory to grow.
    [[nodiscard]] bool push_back(work& w) noexcept {
        if (size() == capacity_ && !grow()) [[unlikely]] {
            return false;
        }
        slots_[tail_++ & (capacity_ - 1)] = &w;
        return true;
    }
    [[nodiscard]] work* back() const noexcept { return is_empty() ? nullptr : slots_[(tail_ - 1) & (capacity_ - 1)]; }
    [[nodiscard]] work* pop_back() noexcept {
        if (is_empty()) {
            return nullptr;
        }
        work* w = slots_[--tail_ & (capacity_ - 1)];
        // Prefetches the next work and the object around it. A stale pointer does no harm.
        const auto around = reinterpret_cast<std::uintptr_t>(slots_[(tail_ - 1) & (capacity_ - 1)]);
        __builtin_prefetch(reinterpret_cast<const void*>(around - 64), 1);
        __builtin_prefetch(reinterpret_cast<const void*>(around), 1);
        return w;
    }
    [[nodiscard]] work* pop_front() noexcept { return is_empty() ? nullptr : slots_[head_++ & (capacity_ - 1)]; }

private:
    [[gnu::noinline, gnu::cold]] bool grow() noexcept {
        const std::size_t bigger = capacity_ == 0 ? 256 : capacity_ * 2;
        work** slots = nullptr;
        try {
            slots = static_cast<work**>(allocate(bigger * sizeof(work*)));
        } catch (const std::bad_alloc&) {
            return false;
        }
        for (std::size_t p = head_; p != tail_; ++p) {
            slots[p & (bigger - 1)] = slots_[p & (capacity_ - 1)];
        }
        if (slots_ != nullptr) {
            deallocate(static_cast<void*>(slots_), capacity_ * sizeof(work*));
        }
        slots_ = slots;
        capacity_ = bigger;
        return true;
    }

    work** slots_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

}  // namespace roost::inline ROOST_ABI::detail
