#include "explore_context.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <cxxabi.h>
#include <cstring>
#include <new>

#include <sys/mman.h>

#if ROOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// roost_model_switch(save, load): pushes the callee-saved registers, stores the stack pointer in *save, takes `load` as the
// new one, pops the registers and returns to the code that switched away from it.
#if defined(__x86_64__)
asm(R"(
.text
.globl roost_model_switch
.type roost_model_switch,@function
roost_model_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size roost_model_switch,.-roost_model_switch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl roost_model_switch
.type roost_model_switch,%function
roost_model_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size roost_model_switch,.-roost_model_switch
)");
#else
#error "the explorer's context switch is written for x86-64 and aarch64"
#endif

extern "C" void roost_model_switch(void** save, void* load);

#if ROOST_ASAN
// Off: AddressSanitizer would spend nearly all the time on making a second stack for every model thread of every execution.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

#if ROOST_ASAN
context* switching_from = nullptr;
#endif

void* exception_globals() noexcept {
    static void* const where = abi::__cxa_get_globals();
    return where;
}

}  // namespace

context::~context() {
    if (stack_ != nullptr) {
        munmap(stack_, stack_bytes);
    }
}

void context::prepare(void (*entry)()) {
    if (stack_ == nullptr) {
        stack_ = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack_ == MAP_FAILED) {
            stack_ = nullptr;
            throw std::bad_alloc();
        }
        mprotect(stack_, 4096, PROT_NONE);  // running off the end faults instead of damaging a neighbour
    }
#if ROOST_ASAN
    // Frames below the last switch have returned and cleaned up; those above it were left as they were.
    if (stack_pointer_ != nullptr) {
        const auto* used = static_cast<char*>(stack_pointer_) - 256;
        __asan_unpoison_memory_region(used, static_cast<std::size_t>(static_cast<char*>(stack_) + stack_bytes - used));
    }
    fake_stack_ = nullptr;
    bottom_ = static_cast<char*>(stack_) + 4096;
    size_ = stack_bytes - 4096;
#endif
    exceptions_ = {};
    auto* top = reinterpret_cast<std::uint64_t*>(static_cast<char*>(stack_) + stack_bytes);
#if defined(__x86_64__)
    *--top = 0;  // where a return address would be: entry never returns, unwinders stop here
    *--top = reinterpret_cast<std::uint64_t>(entry);
    for (int i = 0; i < 6; ++i) {
        *--top = 0;
    }
#else
    top -= 20;
    std::memset(top, 0, 160);
    top[11] = reinterpret_cast<std::uint64_t>(entry);
#endif
    stack_pointer_ = top;
}

void context::switch_between(context& from, context& to, [[maybe_unused]] bool from_ends) noexcept {
    void* const globals = exception_globals();
    std::memcpy(&from.exceptions_, globals, sizeof(exception_state));
    std::memcpy(globals, &to.exceptions_, sizeof(exception_state));
#if ROOST_ASAN
    switching_from = &from;
    __sanitizer_start_switch_fiber(from_ends ? nullptr : &from.fake_stack_, to.bottom_, to.size_);
#endif
    roost_model_switch(&from.stack_pointer_, to.stack_pointer_);
#if ROOST_ASAN
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(from.fake_stack_, &bottom, &size);
    if (switching_from->stack_ == nullptr) {
        switching_from->bottom_ = bottom;
        switching_from->size_ = size;
    }
#endif
}

void context::arrived() noexcept {
#if ROOST_ASAN
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (switching_from->stack_ == nullptr) {
        switching_from->bottom_ = bottom;
        switching_from->size_ = size;
    }
#endif
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
