#pragma once

// Stackful contexts of the explorer: one per model thread, switched by a few instructions. A context also keeps the C++
// runtime's per-thread state of exceptions in flight, and informs AddressSanitizer about the stack in use.

#include <roost/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

class context {
public:
    context() noexcept = default;
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    // Makes this context start in `entry` at the next switch. What ran on its stack before is dropped without unwinding.
    void prepare(void (*entry)());
    // Leaves `from` and continues `to`. `from_ends` is true if `from` will not be continued again.
    static void switch_between(context& from, context& to, bool from_ends = false) noexcept;
    // Called first on a fresh context.
    static void arrived() noexcept;

    [[nodiscard]] bool contains(const void* p) const noexcept {
        return p >= stack_ && p < static_cast<const char*>(stack_) + stack_bytes;
    }

    static constexpr std::size_t stack_bytes = 256 * 1024;

private:
    struct exception_state {
        void* caught = nullptr;
        unsigned uncaught = 0;
    };

    void* stack_ = nullptr;  // null: the thread's own stack
    void* stack_pointer_ = nullptr;
    exception_state exceptions_;
    // For AddressSanitizer only.
    [[maybe_unused]] void* fake_stack_ = nullptr;
    [[maybe_unused]] const void* bottom_ = nullptr;
    [[maybe_unused]] std::size_t size_ = 0;
};

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI
