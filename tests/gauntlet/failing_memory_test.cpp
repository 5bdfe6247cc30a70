// The allocator of the whole program: it counts, and fails when it is told to.

#include "failing_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

thread_local long gauntlet::allocations_left = -1;
thread_local long gauntlet::allocations = 0;
std::atomic<long> gauntlet::outstanding{0};

namespace {

using gauntlet::allocations_left;
using gauntlet::outstanding;

void* allocate_or_fail(std::size_t size, std::size_t alignment) {
    ++gauntlet::allocations;
    if (allocations_left >= 0 && allocations_left-- == 0) {
        throw std::bad_alloc();
    }
    void* memory = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                       ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                       : std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    outstanding.fetch_add(1, std::memory_order_relaxed);
    return memory;
}
void give_back(void* memory) noexcept {
    if (memory != nullptr) {
        outstanding.fetch_sub(1, std::memory_order_relaxed);
        std::free(memory);
    }
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_fail(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate_or_fail(size, static_cast<std::size_t>(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate_or_fail(size, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace {

TEST(failing_memory, GAUNTLET_13_the_nth_allocation_fails_and_no_other) {
    const long before = outstanding.load();
    for (long n = 0; n < 3; ++n) {
        allocations_left = n;
        long made = 0;
        bool failed = false;
        for (int i = 0; i < 5; ++i) {
            try {
                ::operator delete(::operator new(8));
                ++made;
            } catch (const std::bad_alloc&) {
                EXPECT_EQ(made, n);
                failed = true;
            }
        }
        allocations_left = -1;
        EXPECT_TRUE(failed);
        EXPECT_EQ(made, 4);
    }
    EXPECT_EQ(outstanding.load(), before);
}

}  // namespace
