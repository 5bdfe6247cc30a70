#pragma once

// Types shared by the explorer's parts: clocks, operations, thread masks.

#include <roost/base/detail/seam_model_engine.hpp>
#include <roost/testing/explore.hpp>

#include <array>
#include <cstdint>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

using roost::detail::model_kind;
using roost::detail::model_object;
using roost::detail::model_op;
using roost::detail::model_site;
using roost::detail::model_word;

inline constexpr unsigned max_threads = 8;
using thread_mask = std::uint32_t;
[[nodiscard]] constexpr thread_mask bit(unsigned thread) noexcept { return thread_mask(1) << thread; }

// For each thread, how far its past is known.
struct clock_vector {
    std::array<std::uint32_t, max_threads> at{};

    void join(const clock_vector& other) noexcept {
        for (unsigned i = 0; i < max_threads; ++i) {
            at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
        }
    }
};

struct touch {
    std::uint32_t object = 0;
    bool write = false;
};

// Pseudo objects: everything a heavy barrier orders, the clock, the allocator.
inline constexpr std::uint32_t world_object = 0;
inline constexpr std::uint32_t clock_object = 1;
inline constexpr std::uint32_t allocator_object = 2;
inline constexpr std::uint32_t first_real_object = 3;

// A step of a thread, pending or done: what it does to which objects. Two steps of different threads may be swapped without
// effect if they share no object that one of them writes.
struct operation {
    model_op op = model_op::finish;
    std::uint8_t count = 0;
    std::array<touch, 4> touched{};
    std::uint32_t target = 0;  // join: the thread; await: the value whose change is awaited
    model_site at{};

    void add(std::uint32_t object, bool write) noexcept { touched[count++] = touch{object, write}; }
};

[[nodiscard]] inline bool dependent(const operation& a, const operation& b) noexcept {
    for (unsigned i = 0; i < a.count; ++i) {
        for (unsigned j = 0; j < b.count; ++j) {
            if (a.touched[i].object == b.touched[j].object && (a.touched[i].write || b.touched[j].write)) {
                return true;
            }
        }
    }
    return false;
}

[[nodiscard]] const char* name_of(model_op op) noexcept;
[[nodiscard]] const char* name_of(std::memory_order order) noexcept;
// "event.hpp:42": the file without its folders.
[[nodiscard]] std::string place(model_site at);

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI
