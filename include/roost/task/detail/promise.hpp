#pragma once

// Frames and how they wait for each other.
//
// A job body is a chain of frames. Each frame is awaited through an `await_link` that lives in the awaiting frame (or, for
// the first one, in the job's block) and holds the result, so the result outlives the awaited frame. The promise keeps two
// pointers: that link, and the region of the tree it runs in.
//
//   region <- promise --link_--> await_link{up_: awaiting promise} <- ... <- root link in the job's block
//
// A link without `ops` is an ordinary await: at the end of the child its waiter is resumed, and when the child is cancelled
// its waiter is destroyed next. A link with `ops` is a boundary: it decides itself what follows.

#include <roost/base/assert.hpp>
#include <roost/exec/executor.hpp>
#include <roost/task/detail/transfer.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class await_link;
class region;

// How a frame came to its end. The value or the error is in the link already.
enum class ending : unsigned char { none, returned, threw, cancelled };

// What the loop does after a boundary has been told.
class next_step {
public:
    [[nodiscard]] static next_step nothing() noexcept { return next_step(nullptr, false); }
    [[nodiscard]] static next_step resume(promise_base& frame) noexcept { return next_step(&frame, false); }
    // The reason is the one the boundary was told, or what it put into runner::why.
    [[nodiscard]] static next_step unwind(promise_base& frame) noexcept { return next_step(&frame, true); }

    [[nodiscard]] promise_base* frame() const noexcept { return frame_; }
    [[nodiscard]] bool is_unwind() const noexcept { return unwind_; }

private:
    next_step(promise_base* frame, bool unwind) noexcept : frame_(frame), unwind_(unwind) {}
    promise_base* frame_;
    bool unwind_;
};

// Runs in the loop, on the body's executor, after the child's frame is gone.
class link_ops {
public:
    using done_function = next_step (*)(await_link&, ending, reason& why) noexcept;

    // `cancelled_only`: an ordinary end resumes the waiter as if the link were no boundary.
    constexpr link_ops(done_function function, bool cancelled_only) noexcept
        : done_(function), only_cancelled_(cancelled_only) {}
    next_step done(await_link& link, ending how, reason& why) const noexcept { return done_(link, how, why); }
    [[nodiscard]] bool only_cancelled() const noexcept { return only_cancelled_; }

private:
    done_function done_;
    bool only_cancelled_;
};

class await_link {
public:
    explicit await_link(const link_ops* ops = nullptr) noexcept : ops_(ops) {}
    await_link(const await_link&) = delete;
    await_link& operator=(const await_link&) = delete;

    [[nodiscard]] promise_base* waiter() const noexcept { return static_cast<promise_base*>(up_); }
    [[nodiscard]] promise_base* child() const noexcept { return child_; }

    void* up_ = nullptr;  // the awaiting promise; what else it is, ops_ knows
    promise_base* child_ = nullptr;
    const link_ops* ops_;
    ending state_ = ending::none;
};

class promise_base {
public:
    promise_base() noexcept = default;
    promise_base(const promise_base&) = delete;
    promise_base& operator=(const promise_base&) = delete;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

    // For awaiters of every layer, see exec/resume.hpp.
    [[nodiscard]] executor_ref get_executor() const noexcept;
    void resume_from_wait() noexcept;

    [[nodiscard]] std::coroutine_handle<promise_base> handle() noexcept {
        // Every promise of a task has this class as its first and only base with data, so the offset is the same.
        return std::coroutine_handle<promise_base>::from_promise(*this);
    }
    [[nodiscard]] region& where() const noexcept { return *region_; }
    [[nodiscard]] await_link* link() const noexcept { return link_; }

    // Makes `link` the one through which this frame is awaited, and `in` the place where it runs.
    void attach(await_link& link, region& in) noexcept {
        link_ = &link;
        region_ = &in;
        link.child_ = this;
    }

private:
    await_link* link_ = nullptr;
    region* region_ = nullptr;
};

// --- what a task leaves behind: in the awaiting frame or in the job's block ------------------------------------------

// The part that does not depend on T: an error or the reason of a cancellation.
class settled_link : public await_link {
public:
    explicit settled_link(const link_ops* ops = nullptr) noexcept : await_link(ops) {}
    ~settled_link() { forget(); }

    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
    [[nodiscard]] const reason& why() const noexcept { return why_; }
    void settle_cancelled(reason why) noexcept {
        ::new (static_cast<void*>(std::addressof(why_))) reason(std::move(why));
        state_ = ending::cancelled;
    }

protected:
    void settle_threw(std::exception_ptr error) noexcept {
        ::new (static_cast<void*>(std::addressof(error_))) std::exception_ptr(std::move(error));
        state_ = ending::threw;
    }
    void forget() noexcept {
        if (state_ == ending::threw) {
            std::destroy_at(std::addressof(error_));
        } else if (state_ == ending::cancelled) {
            std::destroy_at(std::addressof(why_));
        }
        state_ = ending::none;
    }

private:
    union {
        std::exception_ptr error_;
        reason why_;
    };
};

template <class T>
class result_link : public settled_link {
    using stored = std::conditional_t<
        std::is_void_v<T>, char,
        std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<std::remove_reference_t<T>>, std::remove_cv_t<T>>>;

public:
    explicit result_link(const link_ops* ops = nullptr) noexcept : settled_link(ops) {}
    ~result_link() { clear(); }

    template <class... Args>
    void emplace(Args&&... args) {
        if constexpr (std::is_reference_v<T>) {
            value_ = std::addressof(args...);
        } else if constexpr (!std::is_void_v<T>) {
            ::new (static_cast<void*>(std::addressof(value_))) stored(std::forward<Args>(args)...);
        }
        state_ = ending::returned;
    }
    void fail(std::exception_ptr error) noexcept {
        clear();
        settle_threw(std::move(error));
    }
    void clear() noexcept {
        if (state_ == ending::returned) {
            std::destroy_at(std::addressof(value_));
        }
        forget();
    }

    [[nodiscard]] stored& value() noexcept { return value_; }
    // The value, or throws the error with its own type.
    T take() {
        if (state_ == ending::threw) [[unlikely]] {
            std::rethrow_exception(error());
        }
        return take_value();
    }
    T take_value() {
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*value_);
        } else if constexpr (!std::is_void_v<T>) {
            return std::move(value_);
        }
    }

private:
    union {
        stored value_;
    };
};

// --- cancelled frames ------------------------------------------------------------------------------------------------

// From an await_suspend: this frame will not run on. The loop destroys it when its stack is clear. Stay suspended.
void unwind_frame(promise_base& frame, reason why) noexcept;
// With the reason of the region the frame runs in.
void unwind_frame(promise_base& frame) noexcept;
void frame_ended(promise_base& frame) noexcept;

// At the end of every frame.
template <transfer Mode>
class final_await {
public:
    final_await() noexcept = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> self) const noexcept -> typename transfer_to<Mode>::result {
        const await_link& link = *self.promise().link();
        if (link.ops_ == nullptr || link.ops_->only_cancelled()) [[likely]] {
            return transfer_to<Mode>::frame(link.waiter()->handle());
        }
        frame_ended(self.promise());
        return transfer_to<Mode>::nobody();
    }
    void await_resume() const noexcept {}
};

}  // namespace roost::inline ROOST_ABI::detail
