#include <roost/base/atomic.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <array>
#include <new>

// Memory of nodes and coroutine frames.
//
// Frames come and go at the rate of calls, and nearly all are small, so each thread keeps a bounded stack of free blocks per
// size class. A block freed on another thread joins that thread's stack: no block is tied to the thread that made it.
// Under AddressSanitizer every block goes straight to the heap, so a use after free is seen.

namespace roost::inline ROOST_ABI {

void* allocate(std::size_t size, std::size_t alignment) {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
        return ::operator new(size, std::align_val_t(alignment));
    }
    return ::operator new(size);
}

void deallocate(void* memory, std::size_t size, std::size_t alignment) noexcept {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
        ::operator delete(memory, size, std::align_val_t(alignment));
    } else {
        ::operator delete(memory, size);
    }
}

namespace {

constexpr std::size_t class_bytes = 32;
constexpr std::size_t class_count = 32;  // blocks up to 1 KiB are recycled
constexpr std::size_t class_bytes_kept = 256 * 1024;  // per thread and class

struct free_block {
    free_block* next;
};

// `room` says how many more blocks are kept. It is 0 before the first block is kept and after the thread has cleaned up, so
// the common path asks one question.
struct free_stack {
    free_block* top = nullptr;
    std::size_t room = 0;
};

enum class cache_state : unsigned char { unused, open, closed };

// Constant-initialised and trivially destructible, so that reaching it is one plain thread-local access. What it holds is
// freed by the closer below, which is made the first time a thread keeps a block; frames freed by thread-local destructors
// that run after it go straight to the heap.
struct frame_cache {
    std::array<free_stack, class_count> classes{};
    cache_state state = cache_state::unused;
};

constinit thread_local frame_cache this_cache;

struct closer {
    closer() {
        this_cache.state = cache_state::open;
        for (std::size_t i = 0; i < class_count; ++i) {
            this_cache.classes[i].room = class_bytes_kept / ((i + 1) * class_bytes);
        }
    }
    ~closer() {
        this_cache.state = cache_state::closed;
        for (free_stack& stack : this_cache.classes) {
            stack.room = 0;
            while (stack.top != nullptr) {
                free_block* block = stack.top;
                stack.top = block->next;
                ::operator delete(block);
            }
        }
    }
};

constexpr std::size_t class_of(std::size_t size) noexcept { return (size - 1) / class_bytes; }  // of 0: none

[[gnu::noinline, gnu::cold]] void* allocate_slowly(std::size_t index, std::size_t size) {
    return ::operator new(!ROOST_ASAN && index < class_count ? (index + 1) * class_bytes : size);
}

void keep(free_stack& stack, void* memory) noexcept {
    auto* block = static_cast<free_block*>(memory);
    block->next = stack.top;
    stack.top = block;
    --stack.room;
}

[[gnu::noinline]] void deallocate_slowly(std::size_t index, void* memory) noexcept {
    if (!ROOST_ASAN && index < class_count && this_cache.state == cache_state::unused) {
        thread_local closer at_thread_end;
        static_cast<void>(&at_thread_end);
        keep(this_cache.classes[index], memory);
        return;
    }
    ::operator delete(memory);
}

}  // namespace

void* allocate_frame(std::size_t size) {
    const std::size_t index = class_of(size);
    if (!ROOST_ASAN && index < class_count) [[likely]] {
        free_stack& stack = this_cache.classes[index];
        if (free_block* block = stack.top) [[likely]] {
            free_block* next = block->next;
            __builtin_prefetch(next, 1);  // whoever makes many blocks finds the next one in the cache
            __builtin_prefetch(reinterpret_cast<unsigned char*>(next) + 64, 1);
            __builtin_prefetch(reinterpret_cast<unsigned char*>(next) + 128, 1);
            stack.top = next;
            ++stack.room;
            return block;
        }
    }
    return allocate_slowly(index, size);
}

void deallocate_frame(void* memory, std::size_t size) noexcept {
    const std::size_t index = class_of(size);
    if (!ROOST_ASAN && index < class_count) [[likely]] {
        free_stack& stack = this_cache.classes[index];
        if (stack.room != 0) [[likely]] {
            keep(stack, memory);
            return;
        }
    }
    deallocate_slowly(index, memory);
}

}  // namespace roost::inline ROOST_ABI

#endif  // !ROOST_SEAM_MODEL
