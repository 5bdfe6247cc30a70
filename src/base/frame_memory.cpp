#include <roost/base/atomic.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <new>

// Memory of nodes, and the slow path of frame memory.

namespace roost::inline ROOST_ABI::seam {

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

}  // namespace roost::inline ROOST_ABI::seam

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr std::size_t class_bytes_kept = 256 * 1024;  // per thread and class

enum class cache_state : unsigned char { unused, open, closed };
constinit thread_local cache_state state = cache_state::unused;

// Constructed when a thread first keeps a block; its destructor frees the thread's blocks.
struct closer {
    closer() {
        state = cache_state::open;
        for (std::size_t i = 0; i < frame_classes; ++i) {
            free_frames[i].room = class_bytes_kept / frame_block_bytes(i);
        }
    }
    ~closer() {
        state = cache_state::closed;
        for (free_stack& stack : free_frames) {
            stack.room = 0;
            while (stack.top != nullptr) {
                free_block* block = stack.top;
                stack.top = block->next;
                ::operator delete(block);
            }
        }
    }
};

bool has_class(std::size_t size) noexcept { return frame_class_of(size) < frame_classes; }

}  // namespace

constinit thread_local std::array<free_stack, frame_classes> free_frames{};

void* allocate_frame_slowly(std::size_t size) {
    return ::operator new(!ROOST_ASAN && has_class(size) ? frame_block_bytes(frame_class_of(size)) : size);
}

void deallocate_frame_slowly(void* memory, std::size_t size) noexcept {
    if (!ROOST_ASAN && has_class(size) && state == cache_state::unused) {
        thread_local closer at_thread_end;
        static_cast<void>(&at_thread_end);
        keep_or_free_frame(memory, size);
        return;
    }
    ::operator delete(memory);
}

[[gnu::noinline]] void* allocate_frame_called(std::size_t size) { return take_or_allocate_frame(size); }
[[gnu::noinline]] void deallocate_frame_called(void* memory, std::size_t size) noexcept { keep_or_free_frame(memory, size); }

}  // namespace roost::inline ROOST_ABI::detail

#endif  // !ROOST_SEAM_MODEL
