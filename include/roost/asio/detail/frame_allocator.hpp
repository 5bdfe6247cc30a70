#pragma once

// Memory of Asio's operations, from the caches of coroutine frames. Asio's own caches serve only threads that are inside run().
// Bodies begin their operations outside.

#include <roost/base/atomic.hpp>

#include <cstddef>
#include <new>

namespace roost::inline ROOST_ABI::detail {

template <class T = void>
class frame_allocator {
public:
    using value_type = T;

    constexpr frame_allocator() noexcept = default;
    template <class U>
    constexpr explicit(false) frame_allocator(const frame_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return static_cast<T*>(seam::allocate_frame(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t n) noexcept { seam::deallocate_frame(memory, n * sizeof(T)); }

    template <class U>
    friend constexpr bool operator==(const frame_allocator&, const frame_allocator<U>&) noexcept {
        return true;
    }
};

}  // namespace roost::inline ROOST_ABI::detail
