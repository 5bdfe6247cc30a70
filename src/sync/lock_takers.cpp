#include <roost/sync/detail/lock_takers.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/detail/report_misuse.hpp>

#include <array>
#include <cstdint>
#include <string>

// id  operation      order    pairs  carries                                fails in
// T1  note: store    seq_cst  T2     nothing: its reader took part          (no model: decides nothing)
// T2  is: load       seq_cst  T1     nothing                                (no model: decides nothing)

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr std::size_t slots = 512;

std::uint64_t mixed(const void* a, const void* b) noexcept {
    std::uint64_t x = reinterpret_cast<std::uintptr_t>(a) * 0x9E3779B97F4A7C15U;
    x ^= reinterpret_cast<std::uintptr_t>(b) + 0x7F4A7C15U + (x << 6U) + (x >> 2U);
    x *= 0xBF58476D1CE4E5B9U;
    return (x ^ (x >> 31U)) | 1U;
}

atomic<std::uint64_t>& slot_of(const void* lock) noexcept {
    static std::array<atomic<std::uint64_t>, slots> table{};
    return table[(mixed(lock, nullptr) >> 8U) % slots];
}

}  // namespace

void note_lock_taker(const void* lock, const void* by) noexcept {
    slot_of(lock).store(by == nullptr ? 0 : mixed(lock, by), mo::seq_cst);  // T1
}

bool is_lock_taker(const void* lock, const void* by) noexcept {
    return slot_of(lock).load(mo::seq_cst) == mixed(lock, by);  // T2
}

void report_locked_twice(std::string_view kind, std::string_view name, std::string_view job) noexcept {
    try {
        report_misuse(kind, name, site(),
                      "job '" + std::string(job) +
                          "' waits for it and is the job that locked it; it is not recursive: unlock() the first guard, or "
                          "pass the guard on to the code that locks again");
    } catch (...) {
        report_misuse(kind, name, site(), "a job waits for it and is the job that locked it");
    }
}

}  // namespace roost::inline ROOST_ABI::detail
