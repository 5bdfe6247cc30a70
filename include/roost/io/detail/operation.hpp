#pragma once

// An operation on a descriptor: system calls that are tried until they are done, with a wait whenever one would block. It is
// an awaiter for every coroutine type. For a thread, run_blocking() is a loop.
//
// A spurious event does not resume the coroutine. The operation tries the next call on the coroutine's executor, and waits
// again if that would block.
//
// Cancelled: while it waits and nothing was transferred, it ends as every wait does. After a part, the coroutine is resumed with
// the error errc::cancelled and the count, unless its whole job is cancelled. A cancel may come while a call is tried; the
// operation finds it in interrupted_ before it waits again.
//
// id  operation               order    pairs  carries                                                    fails in
// O1  try_cancel: store       relaxed  O2     nothing: the lock of the list orders it before the look    (floor)
// O2  wait again: load        relaxed  O1     nothing: as O1                                             (floor)

#include <roost/base/misuse.hpp>
#include <roost/exec/resume.hpp>
#include <roost/io/detail/pollable.hpp>
#include <roost/io/result.hpp>

#include <coroutine>
#include <cstddef>
#include <system_error>
#include <utility>

namespace roost::inline ROOST_ABI::io::detail {

using roost::ext::resume_target;
using roost::ext::work;

class operation {
public:
    // Tries the system call. Returns true if the operation is done, with a value or an error; false if the call would block.
    using try_function = bool (*)(operation&, readiness::snapshot seen) noexcept;

    operation(pollable* on, direction d, try_function f, const char* what) noexcept
        : on_(on), try_(f), what_(what), direction_(d) {}
    // Requires that the other has not been awaited yet.
    operation(operation&& other) noexcept;
    ~operation() { abandon(); }

    [[nodiscard]] bool await_ready() noexcept;
    template <class Promise>
    ROOST_AWAIT_SUSPEND bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
        unwind_ = ext::unwind_function_of<Promise>();
        return start(resume_target::of(handle));
    }

    // The members of roost::detail::wait_operation, for select, with_stop and with_deadline.
    [[nodiscard]] bool start(const resume_target& target) noexcept;
    bool try_cancel(claim as = claim::cancelled) noexcept;
    void set_awaited() noexcept { node_.set_awaited(); }
    [[nodiscard]] waiter& node() noexcept { return node_; }
    [[nodiscard]] wait_target waits_on() const noexcept;
    // Returns true if try_cancel() returned false because an event had come, but the event was spurious: nothing was
    // transferred. Called only before await_resume.
    [[nodiscard]] bool was_cancelled_late() const noexcept {
        return !has_failed() && count_ == 0 && node_.state() == claim::cancelled;
    }

    // For a wait that must not begin. Returns true if something was transferred: then it is done, with errc::cancelled.
    bool end_with_part() noexcept { return count_ != 0 && fail(make_error_code(errc::cancelled)); }

    // Blocks the thread until it is done, or ends with errc::timed_out at the deadline.
    void run_blocking(time_point deadline) noexcept;

protected:
    [[nodiscard]] pollable& on() const noexcept { return *on_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    void set_count(std::size_t n) noexcept { count_ = n; }
    [[nodiscard]] bool has_failed() const noexcept { return category_ != nullptr; }
    // Requires has_failed().
    [[nodiscard]] std::error_code code() const noexcept { return {why_, *category_}; }
    [[nodiscard]] const char* what() const noexcept { return what_; }
    // Each returns true, for try_function.
    bool fail(std::error_code why) noexcept {
        why_ = why.value();
        category_ = &why.category();
        return true;
    }
    bool fail(int why) noexcept { return fail(std::error_code(why, std::system_category())); }
    // Called first in await_resume.
    void settle() noexcept;
    // Ends the wait and the use, when the frame is destroyed. Called by the destructor of an operation that owns its object,
    // because closing the object would wake the operation.
    void abandon() noexcept;
    // Sets the object of the calls, for an operation that makes it.
    void set_object(pollable* on) noexcept { on_ = on; }
    // Called when a system call returned the end of the stream. Returns true if that is because another thread closed the
    // object.
    [[nodiscard]] bool is_closed() noexcept { return on_->at(direction_).look().is_closed(); }
    void clear_ready(readiness::snapshot seen) noexcept { on_->at(direction_).clear(seen); }

    // The result of an operation whose value is its count.
    [[nodiscard]] result<std::size_t> counted() const noexcept {
        return has_failed() ? result<std::size_t>(code(), what_, count_) : result<std::size_t>(std::in_place, count_);
    }

private:
    [[nodiscard]] bool enter() noexcept;
    [[nodiscard]] bool try_until_blocked() noexcept;
    void note_closed() noexcept;
    enum class waits : std::uint8_t { yes, is_done, not_any_more };
    [[nodiscard]] waits wait_again() noexcept;
    [[nodiscard]] readiness& ready() const noexcept { return on_->at(direction_); }
    [[nodiscard]] claim interrupted() const noexcept { return interrupted_.load(seam::mo::relaxed); }  // O2
    static void woken(work& w) noexcept;
    void go_on(claim how) noexcept;
    void cut_short(claim how, bool is_late) noexcept;
    void resume(claim how) noexcept;

    pollable* on_;
    try_function try_;
    const char* what_;
    std::size_t count_ = 0;
    const std::error_category* category_ = nullptr;  // of the error, if there is one
    int why_ = 0;
    ext::unwind_function unwind_ = nullptr;
    resume_target target_{seam::unset};  // set by start()
    seam::atomic<claim> interrupted_{claim::idle};
    direction direction_;
    bool entered_ = false;
    waiter node_;
};

// The same operation, which returns the value of its result and throws io::error instead of returning one.
template <class Operation>
class [[nodiscard("it does nothing until it is awaited: write co_await")]] throwing_form : public Operation {
public:
    explicit throwing_form(Operation&& op) noexcept : Operation(std::move(op)) {}
    auto await_resume() { return Operation::await_resume().value(); }
};

// An operation with a result and its other forms. Derived has result_of(), and perhaps needs_no_call().
template <class Derived, class Base = operation>
class [[nodiscard("it does nothing until it is awaited: write co_await")]] typed_operation : public Base {
public:
    using Base::Base;

    // An operation that needs no system call is done at once, also if the descriptor is not ready.
    [[nodiscard]] bool await_ready() noexcept {
        if constexpr (requires(Derived& d) { d.needs_no_call(); }) {
            if (static_cast<Derived*>(this)->needs_no_call()) {
                this->set_awaited();
                return true;
            }
        }
        return Base::await_ready();
    }
    auto await_resume() {
        this->settle();
        return static_cast<Derived*>(this)->result_of();
    }

    [[nodiscard]] throwing_form<Derived> or_throw() && { return throwing_form<Derived>(static_cast<Derived&&>(*this)); }

    // Blocks the calling thread. At the deadline the error is errc::timed_out.
    [[nodiscard]] auto blocking(time_limit deadline = no_deadline) && {
        this->run_blocking(deadline);
        return static_cast<Derived*>(this)->result_of();
    }
};

}  // namespace roost::inline ROOST_ABI::io::detail
