#pragma once

// Memory for a handler of which at most one is under way, so that posting it neither allocates nor throws.

#include <roost/base/config.hpp>

#include <cstddef>
#include <new>

namespace roost::inline ROOST_ABI::detail {

class handler_memory {
public:
    handler_memory() noexcept = default;
    handler_memory(const handler_memory&) = delete;
    handler_memory& operator=(const handler_memory&) = delete;

    // Asio releases a handler's memory before it calls the handler.
    [[nodiscard]] void* allocate(std::size_t size) {
        if (in_use_ || size > sizeof bytes_) {
            return ::operator new(size);
        }
        in_use_ = true;
        return bytes_;
    }
    void deallocate(void* memory) noexcept {
        if (memory == bytes_) {
            in_use_ = false;
        } else {
            ::operator delete(memory);
        }
    }
    [[nodiscard]] bool is_in_use() const noexcept { return in_use_; }

private:
    alignas(std::max_align_t) unsigned char bytes_[256];
    bool in_use_ = false;
};

template <class T = void>
class handler_allocator {
public:
    using value_type = T;

    explicit handler_allocator(handler_memory& memory) noexcept : memory_(&memory) {}
    template <class U>
    explicit(false) handler_allocator(const handler_allocator<U>& other) noexcept : memory_(other.memory()) {}

    [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }
    void deallocate(T* memory, std::size_t /*n*/) noexcept { memory_->deallocate(memory); }

    [[nodiscard]] handler_memory* memory() const noexcept { return memory_; }
    template <class U>
    friend bool operator==(const handler_allocator& a, const handler_allocator<U>& b) noexcept {
        return a.memory() == b.memory();
    }

private:
    handler_memory* memory_;
};

}  // namespace roost::inline ROOST_ABI::detail
