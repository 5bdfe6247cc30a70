#pragma once

// Replaces operator new of the program: counts what this thread allocates, and can make one of its allocations fail. For one
// source file of a program.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace counted_memory {

inline thread_local long allocations = 0;
inline thread_local long fail_after = -1;  // so many succeed, then one fails; negative: none

inline void* allocate(std::size_t size, std::size_t alignment) {
    ++allocations;
    if (fail_after >= 0 && fail_after-- == 0) {
        throw std::bad_alloc();
    }
    void* p = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                  ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                  : std::malloc(size == 0 ? 1 : size);
    if (p == nullptr) {
        throw std::bad_alloc();
    }
    return p;
}

inline void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
    try {
        return allocate(size, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace counted_memory

void* operator new(std::size_t size) { return counted_memory::allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) {
    return counted_memory::allocate(size, static_cast<std::size_t>(a));
}
// The library's own would call those above; AddressSanitizer's does not.
void* operator new(std::size_t size, const std::nothrow_t& /*form*/) noexcept {
    return counted_memory::allocate_or_null(size, 1);
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t& /*form*/) noexcept {
    return counted_memory::allocate_or_null(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
