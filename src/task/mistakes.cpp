#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/detail/report_misuse.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/exec/detail/activity.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/task.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <string>

// What is said about mistakes in the use of tasks; see docs/guide/mistakes.md.

namespace roost::inline ROOST_ABI::detail {

namespace {

// Where the code of a frame is: the compilers keep the address of its resume function in its first word, and that of its destroy
// function in the second. The first is null when the body has ended. With the file and the offset, addr2line names the
// coroutine.
std::string code_of(const promise_base& frame) {
    void* code[2] = {};
    const void* first = const_cast<promise_base&>(frame).handle().address();
    __builtin_memcpy(static_cast<void*>(code), first, sizeof code);
    void* const resume = code[0] != nullptr ? code[0] : code[1];
    Dl_info found{};
    if (dladdr(resume, &found) == 0 || found.dli_fname == nullptr) {
        return {};
    }
    char text[400];
    std::snprintf(text, sizeof text, "; `addr2line -Cfe %s 0x%zx` names it", found.dli_fname,
                  reinterpret_cast<std::uintptr_t>(resume) - reinterpret_cast<std::uintptr_t>(found.dli_fbase));
    return text;
}

// Returns true if the running body cannot wait for the scope's children in a plain function, with its temporaries alive: the
// scope is its own or around it, on the same executor. It can for children elsewhere, by a call that blocks.
bool ends_later(const scope_core& in) noexcept {
    const job_core* const running = job_core::current();
    const node* const job = running;
    if (in.executor() != running->executor()) {
        return false;
    }
    const node* n = &in;
    while (n != nullptr && n != job) {
        n = n->parent();
    }
    return n != nullptr || in.has_caller_inside();
}

}  // namespace

void task_dropped(const promise_base& frame) noexcept {
    if (drops_are_quiet()) {
        return;
    }
    std::string where;
    try {
        where = code_of(frame);
        report_misuse("task", "", site(),
                      "it was destroyed without being awaited or launched, so its body never ran; write co_await f(), or "
                      "scope.launch(name, f())" +
                          where);
    } catch (...) {
        report_misuse("task", "", site(), "it was destroyed without being awaited or launched, so its body never ran");
    }
}

void ended_without_result(const promise_base& frame) noexcept {
    const job_core& job = frame.region().owner();
    panic("job", job.name(), job.made_at(),
          "a task with a result ended without co_return; every path through it needs one" + code_of(frame));
}

void refuse_borrowed(const scope_core& in, const void* argument, node_name name, site where) noexcept {
    const void* const body_begins = activity::of_this_thread().current();
    const auto at = reinterpret_cast<std::uintptr_t>(argument);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (job_core::current() == nullptr || at < here || at >= reinterpret_cast<std::uintptr_t>(body_begins) ||
        !ends_later(in)) {
        return;
    }
    panic("job", name.text(), where,
          "its task refers to a temporary (a closure with captures that was called on the spot, or an argument that is a "
          "reference), which is gone when the job runs; pass it by value: [](auto v) -> task<> { ... }(v)");
}

void refuse_ended_scope() noexcept {
    panic(
        "scope", {}, site(),
        "it was used after its with_scope had ended; a child that may start later belongs to an owned_scope, or to a scope "
        "further out");
}

void report_refused_launch(const scope_core& in, node_name name, site where) noexcept {
    try {
        report_misuse(
            "job", name.text(), where,
            "it was not started: scope '" + std::string(in.name()) +
                "' is closed, and its task was destroyed; check the job that launch() returns, or keep the scope open "
                "with a lease");
    } catch (...) {
        report_misuse("job", name.text(), where, "it was not started: its scope is closed");
    }
}

void joined_nothing() noexcept {
    report_misuse("job", {}, site(),
                  "join() of a job that refers to nothing (made empty, moved from, or refused by a closed scope) returns at "
                  "once; check `if (job)` before");
}

// A coroutine keeps a reference to its closure. On the stack below the body that awaits it, the closure is gone.
void refuse_gone_argument(const promise_base& frame, const promise_base& awaiter, const void* below) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(frame.borrowed());
    const auto here = reinterpret_cast<std::uintptr_t>(below);
    constexpr std::uintptr_t surely_this_stack = std::uintptr_t(1) << 14U;
    if (at >= here || here - at > surely_this_stack) {
        return;
    }
    const job_core& job = awaiter.region().owner();
    panic(
        "job", job.name(), job.made_at(),
        "it awaits a task that refers to an object which is gone (the closure of a coroutine lambda, or an argument that is "
        "a reference): the function that called the coroutine has returned; pass it by value: [](auto v) -> task<> { ... "
        "}(v)" +
            code_of(frame));
}

void report_own_lock(const promise_base& frame, wait_target lock) noexcept {
    report_locked_twice(lock.kind(), lock.name(), frame.region().owner().name());
}

}  // namespace roost::inline ROOST_ABI::detail
