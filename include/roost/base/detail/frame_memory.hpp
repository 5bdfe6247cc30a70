#pragma once

// Memory of coroutine frames and job blocks: the fast path.
//
// Frames are allocated at the rate of calls, and nearly all are small, so each thread keeps a bounded stack of free blocks per
// size class. A block freed on another thread joins that thread's stack: no block is tied to the thread that allocated it.
//
// g++ inlines this into every coroutine, where the size is a constant. g++ splits a coroutine before it optimises it, so no
// address of a thread-local lives across a suspension. Other compilers may keep one (docs/compilers.md); there it is a call.
// Under AddressSanitizer every block goes straight to the heap, so that a use after free is detected.

#include <roost/base/config.hpp>

#include <array>
#include <cstddef>

namespace roost::inline ROOST_ABI::detail {

struct free_block {
    free_block* next;
};

// `room` is the number of blocks that may still be added. It is 0 before the first block is kept and after the thread has
// cleaned up, so the fast path has one branch.
struct free_stack {
    free_block* top = nullptr;
    std::size_t room = 0;
};

// The classes are the block sizes of the C library's heap: multiples of 16 bytes, less the 8 of its header. So a block of a
// class takes no more memory than one of the exact size.
inline constexpr std::size_t frame_class_bytes = 16;
inline constexpr std::size_t frame_classes = 65;  // blocks up to 1 KiB are recycled
constexpr std::size_t frame_class_of(std::size_t size) noexcept { return (size + 7) / frame_class_bytes; }
constexpr std::size_t frame_block_bytes(std::size_t index) noexcept { return index * frame_class_bytes + 8; }

// Constant-initialised and trivially destructible, so that an access is one plain thread-local access. src/base/frame_memory.cpp
// frees the blocks when the thread ends. Frames freed by thread-local destructors that run after that go to the heap.
extern constinit thread_local std::array<free_stack, frame_classes> free_frames;

[[nodiscard]] void* allocate_frame_slowly(std::size_t size);
void deallocate_frame_slowly(void* memory, std::size_t size) noexcept;
[[nodiscard]] void* allocate_frame_called(std::size_t size);
void deallocate_frame_called(void* memory, std::size_t size) noexcept;

[[nodiscard, gnu::always_inline]] inline void* take_or_allocate_frame(std::size_t size) {
    const std::size_t index = frame_class_of(size);
    if (!ROOST_ASAN && index < frame_classes) [[likely]] {
        free_stack& stack = free_frames[index];
        if (free_block* block = stack.top) [[likely]] {
            free_block* next = block->next;
            for (std::size_t line = 0; line < size && line < 192; line += 64) {
                // The next allocation finds its block in the cache.
                __builtin_prefetch(reinterpret_cast<unsigned char*>(next) + line, 1);
            }
            stack.top = next;
            ++stack.room;
            return block;
        }
    }
    return allocate_frame_slowly(size);
}

[[gnu::always_inline]] inline void keep_or_free_frame(void* memory, std::size_t size) noexcept {
    const std::size_t index = frame_class_of(size);
    if (!ROOST_ASAN && index < frame_classes) [[likely]] {
        free_stack& stack = free_frames[index];
        if (stack.room != 0) [[likely]] {
            auto* block = static_cast<free_block*>(memory);
            block->next = stack.top;
            stack.top = block;
            --stack.room;
            return;
        }
    }
    deallocate_frame_slowly(memory, size);
}

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI::seam {

[[nodiscard, gnu::always_inline]] inline void* allocate_frame(std::size_t size) {
#if defined(__GNUC__) && !defined(__clang__) && !ROOST_ASAN
    return detail::take_or_allocate_frame(size);
#else
    return detail::allocate_frame_called(size);
#endif
}
[[gnu::always_inline]] inline void deallocate_frame(void* memory, std::size_t size) noexcept {
#if defined(__GNUC__) && !defined(__clang__) && !ROOST_ASAN
    detail::keep_or_free_frame(memory, size);
#else
    detail::deallocate_frame_called(memory, size);
#endif
}

}  // namespace roost::inline ROOST_ABI::seam
