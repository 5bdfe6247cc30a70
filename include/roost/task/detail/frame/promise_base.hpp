#pragma once

// Frames and how they wait for each other.
//
// A job body is a chain of frames. Each frame is awaited through an `await_link` that lives in the awaiting frame (or, for
// the first one, in the job's block) and holds the result, so the result outlives the awaited frame. The promise keeps two
// pointers: that link, and the region of the tree it runs in. Beside them it keeps the line of the await it has come to.
//
//   region <- promise --link_--> await_link{the awaiting promise} <- ... <- root link in the job's block
//
// A link that knows its waiter is an ordinary await: at the end of the child the waiter is resumed, and when the child is
// cancelled it is destroyed next. A link with `link_ops` is a boundary: it decides itself what follows.

#include <roost/base/assert.hpp>
#include <roost/base/detail/result.hpp>
#include <roost/base/site.hpp>
#include <roost/exec/executor.hpp>
#include <roost/task/detail/frame/transfer.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

class await_link;
class region;

// How a frame ended. The value or the error is in the link already.
enum class ending : unsigned char { none, returned, threw, cancelled };

// What the loop does after a boundary was called.
class next_step {
public:
    [[nodiscard]] static next_step nothing() noexcept { return next_step(nullptr, false); }
    [[nodiscard]] static next_step resume(promise_base& frame) noexcept { return next_step(&frame, false); }
    // The reason is the one passed to the boundary, or the one that it stored in runner::why.
    [[nodiscard]] static next_step unwind(promise_base& frame) noexcept { return next_step(&frame, true); }

    [[nodiscard]] promise_base* frame() const noexcept { return frame_; }
    [[nodiscard]] bool is_unwind() const noexcept { return unwind_; }

private:
    next_step(promise_base* frame, bool unwind) noexcept : frame_(frame), unwind_(unwind) {}
    promise_base* frame_;
    bool unwind_;
};

// Called on the body's executor, after the child's frame is destroyed, in the loop or where the child was.
class link_ops {
public:
    using done_function = next_step (*)(await_link&, ending, reason& why) noexcept;
    using waiter_function = promise_base& (*)(await_link&) noexcept;
    using above_function = promise_base* (*)(const link_ops& self, await_link&) noexcept;

    // With `who`, it is called only for a cancellation; any other end resumes that frame as if the link were no boundary.
    constexpr explicit link_ops(done_function function, waiter_function who = nullptr,
                                above_function next = nullptr) noexcept
        : done_(function), waiter_(who), above_(next) {}
    // For boundaries in the awaiting frame.
    constexpr link_ops(done_function function, above_function next) noexcept : done_(function), above_(next) {}
    next_step done(await_link& link, ending how, reason& why) const noexcept { return done_(link, how, why); }
    [[nodiscard]] bool only_cancelled() const noexcept { return waiter_ != nullptr; }
    [[nodiscard]] promise_base& waiter(await_link& link) const noexcept { return waiter_(link); }
    // Returns the frame that awaits the one below the link; null at the first frame of a job.
    [[nodiscard]] promise_base* above(await_link& link) const noexcept {
        if (above_ != nullptr) {
            return above_(*this, link);
        }
        return waiter_ != nullptr ? &waiter_(link) : nullptr;
    }

private:
    done_function done_;
    waiter_function waiter_ = nullptr;
    above_function above_ = nullptr;
};

// One word: bits 3-63 the awaiting promise, or the ops of a boundary (bit 0); bits 1-2 how the child ended.
class await_link {
public:
    explicit await_link(const link_ops* ops = nullptr) noexcept : word_(ops == nullptr ? 0 : word_of(ops)) {}
    await_link(const await_link&) = delete;
    await_link& operator=(const await_link&) = delete;

    void set_waiter(promise_base& frame) noexcept { word_ = reinterpret_cast<std::uintptr_t>(&frame); }
    [[nodiscard]] bool is_boundary() const noexcept { return (word_ & boundary_bit) != 0; }
    [[nodiscard]] promise_base& waiter() const noexcept { return *reinterpret_cast<promise_base*>(word_ & pointer_mask); }
    [[nodiscard]] const link_ops& ops() const noexcept { return *reinterpret_cast<const link_ops*>(word_ & pointer_mask); }

    // Returns the frame that awaits the one below this link; null at the first frame of a job.
    [[nodiscard]] promise_base* above() noexcept { return is_boundary() ? ops().above(*this) : &waiter(); }
    // As above(), for a boundary that was put between, and the word that it keeps.
    [[nodiscard]] static promise_base* above(await_link& link, std::uintptr_t before) noexcept {
        if ((before & boundary_bit) == 0) {
            return reinterpret_cast<promise_base*>(before & pointer_mask);
        }
        return reinterpret_cast<const link_ops*>(before & pointer_mask)->above(link);
    }

    // Inserts a boundary. Pass the returned word to take_out() to restore the link.
    [[nodiscard]] std::uintptr_t put_between(const link_ops& ops) noexcept {
        return std::exchange(word_, word_of(&ops) | (word_ & ending_mask));
    }
    void take_out(std::uintptr_t before) noexcept { word_ = (before & ~ending_mask) | (word_ & ending_mask); }
    // The same below a boundary that holds `before`: tell `ops` first when that one is taken out.
    [[nodiscard]] static std::uintptr_t put_below(std::uintptr_t& before, const link_ops& ops) noexcept {
        return std::exchange(before, word_of(&ops) | (before & ending_mask));
    }

    // Called when the loop has destroyed the child: its waiter, next to be resumed or destroyed itself, must not do it again.
    void abandon() noexcept { word_ = boundary_bit | (word_ & ending_mask); }
    [[nodiscard]] bool is_abandoned() const noexcept { return (word_ & ~ending_mask) == boundary_bit; }

    // Returns true if the child returned and the link is no boundary.
    [[nodiscard]] bool has_plainly_returned() const noexcept {
        return (word_ & (ending_mask | boundary_bit)) == returned_bits;
    }
    // As abandon(), if the child's result needs no destruction either.
    void set_over() noexcept { word_ = boundary_bit; }
    [[nodiscard]] bool is_over() const noexcept { return word_ == boundary_bit; }

    [[nodiscard]] ending state() const noexcept { return static_cast<ending>((word_ & ending_mask) >> ending_shift); }
    [[nodiscard]] bool has_error_or_reason() const noexcept { return state() > ending::returned; }

protected:
    void set_state(ending how) noexcept {
        word_ = (word_ & ~ending_mask) | (static_cast<std::uintptr_t>(how) << ending_shift);
    }
    // Requires none or returned: one instruction.
    void set_returned() noexcept { word_ |= returned_bits; }

private:
    static constexpr std::uintptr_t boundary_bit = 1;
    static constexpr std::uintptr_t ending_mask = 6;
    static constexpr unsigned ending_shift = 1;
    static constexpr std::uintptr_t returned_bits = std::uintptr_t(ending::returned) << ending_shift;
    static constexpr std::uintptr_t pointer_mask = ~std::uintptr_t(7);
    static std::uintptr_t word_of(const link_ops* ops) noexcept {
        return reinterpret_cast<std::uintptr_t>(ops) | boundary_bit;
    }

    std::uintptr_t word_;
};
static_assert(alignof(link_ops) >= 8);

class promise_base {
public:
    promise_base() noexcept = default;
    promise_base(const promise_base&) = delete;
    promise_base& operator=(const promise_base&) = delete;

    [[gnu::always_inline]] static void* operator new(std::size_t size) { return allocate_frame(size); }
    [[gnu::always_inline]] static void operator delete(void* memory, std::size_t size) noexcept {
        deallocate_frame(memory, size);
    }

    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

    // For awaiters of every layer, see exec/resume.hpp.
    [[nodiscard]] executor_ref get_executor() const noexcept;
    void resume_from_wait() noexcept;
    bool unwind_from_wait(bool only_with_its_job) noexcept;

    [[nodiscard]] std::coroutine_handle<promise_base> handle() noexcept {
        // Every promise of a task has this class as its first and only base with data, so the offset is the same.
        return std::coroutine_handle<promise_base>::from_promise(*this);
    }
    [[nodiscard]] detail::region& region() const noexcept { return *region_; }
    [[nodiscard]] await_link* link() const noexcept { return link_; }

    // Until the frame is attached: the address of an argument that the frame refers to and that may be on the caller's stack.
    void set_borrowed(const void* argument) noexcept {
        region_ = reinterpret_cast<detail::region*>(reinterpret_cast<std::uintptr_t>(argument));
    }
    [[nodiscard]] const void* borrowed() const noexcept { return region_; }

    // Makes `link` the one through which this frame is awaited, and `in` the region it runs in.
    void attach(await_link& link, detail::region& in) noexcept {
        link_ = &link;
        region_ = &in;
    }
    void set_link(await_link& link) noexcept { link_ = &link; }
    // The line of the co_await that the frame has come to. Written by the body; any thread may read it while the frame is
    // suspended in a wait and cannot leave it (region::peek).
    void set_await_site(site where) noexcept { await_site_ = where; }
    [[nodiscard]] site await_site() const noexcept { return await_site_; }
    // Returns the frame that awaits this one; null at the first frame of a job.
    [[nodiscard]] promise_base* caller() const noexcept { return link_->above(); }
    // For the time that it is destroyed in.
    void set_where(detail::region& in) noexcept { region_ = &in; }
    // Of a frame that is to be destroyed: see task/detail/frame/burial.hpp.
    void set_next_dropped(promise_base* next) noexcept { link_ = reinterpret_cast<await_link*>(next); }
    [[nodiscard]] promise_base* next_dropped() const noexcept { return reinterpret_cast<promise_base*>(link_); }

private:
    await_link* link_ = nullptr;
    detail::region* region_ = nullptr;
    site await_site_;
};

// --- what a task leaves behind: in the awaiting frame or in the job's block ------------------------------------------

// The part that does not depend on T: an error or the reason of a cancellation. Small values share its storage.
class settled_link : public await_link {
public:
    explicit settled_link(const link_ops* ops = nullptr) noexcept : await_link(ops) {}
    ~settled_link() {
        if (has_error_or_reason()) [[unlikely]] {
            forget();
        }
    }

    [[nodiscard]] const std::exception_ptr& error() const noexcept { return *place<std::exception_ptr>(); }
    [[nodiscard]] const reason& why() const noexcept { return *place<reason>(); }
    void settle_cancelled(reason why) noexcept {
        ::new (static_cast<void*>(place_)) reason(std::move(why));
        set_state(ending::cancelled);
    }
    void settle_threw(std::exception_ptr error) noexcept {
        ::new (static_cast<void*>(place_)) std::exception_ptr(std::move(error));
        set_state(ending::threw);
    }

    [[nodiscard]] std::exception_ptr take_error() noexcept {
        std::exception_ptr taken = std::move(*place<std::exception_ptr>());
        forget();
        return taken;
    }

    // For a job that has not been started: its first frame.
    void keep_first(promise_base& frame) noexcept { ::new (static_cast<void*>(place_))(promise_base*)(&frame); }
    [[nodiscard]] promise_base& first() const noexcept { return **place<promise_base*>(); }

protected:
    static constexpr std::size_t place_size = sizeof(void*);
    static_assert(sizeof(std::exception_ptr) <= place_size && sizeof(reason) <= place_size);

    [[gnu::noinline, gnu::cold]] void forget() noexcept {
        if (state() == ending::threw) {
            std::destroy_at(place<std::exception_ptr>());
        } else if (state() == ending::cancelled) {
            std::destroy_at(place<reason>());
        }
        set_state(ending::none);
    }
    [[noreturn, gnu::noinline, gnu::cold]] void rethrow() const { std::rethrow_exception(error()); }
    template <class U>
    [[nodiscard]] U* place() const noexcept {
        return std::launder(reinterpret_cast<U*>(const_cast<unsigned char*>(place_)));
    }

private:
    alignas(void*) unsigned char place_[place_size];
};

// A value too big for the shared storage.
template <class T>
class big_value {
public:
    [[nodiscard]] T* get() noexcept { return std::launder(reinterpret_cast<T*>(bytes_)); }

private:
    alignas(T) unsigned char bytes_[sizeof(T)];
};
struct no_big_value {};

template <class T>
class result_link : public settled_link {
    using stored = stored_t<T>;
    static constexpr bool is_small = sizeof(stored) <= settled_link::place_size && alignof(stored) <= alignof(void*);

public:
    static constexpr bool needs_destruction = !std::is_trivially_destructible_v<stored>;

    explicit result_link(const link_ops* ops = nullptr) noexcept : settled_link(ops) {}
    ~result_link() {
        if constexpr (needs_destruction) {
            clear();
        }
    }

    // Called twice if a local of the body throws on its way out of `co_return`, and the body catches that and returns again.
    template <class... Args>
    void emplace(Args&&... args) {
        if constexpr (needs_destruction) {
            clear();
        }
        if constexpr (std::is_reference_v<T>) {
            ::new (static_cast<void*>(std::addressof(value()))) stored(std::addressof(args...));
        } else if constexpr (!std::is_void_v<T>) {
            ::new (static_cast<void*>(std::addressof(value()))) stored(std::forward<Args>(args)...);
        }
        this->set_returned();
    }
    void fail(std::exception_ptr error) noexcept {
        clear();
        this->settle_threw(std::move(error));
    }
    void clear() noexcept {
        if (this->state() == ending::returned) {
            std::destroy_at(std::addressof(value()));
            this->set_state(ending::none);
        } else if (this->has_error_or_reason()) [[unlikely]] {
            this->forget();
        }
    }

    [[nodiscard]] stored& value() noexcept {
        if constexpr (is_small) {
            return *this->template place<stored>();
        } else {
            return *big_.get();
        }
    }
    // Returns the value, or throws the error with its own type.
    T take() {
        if (this->state() == ending::threw) [[unlikely]] {
            this->rethrow();
        }
        return take_value();
    }
    T take_value() { return result_in<T>::take(value()); }

private:
    [[no_unique_address]] std::conditional_t<is_small, no_big_value, big_value<stored>> big_;
};

// --- cancelled frames ------------------------------------------------------------------------------------------------

// For boundaries between a destroyed frame and the frame that awaits it: continues as if it had ended just now.
[[nodiscard]] next_step pass_on_end(await_link& link, ending how, reason& why) noexcept;

// Called by an await_suspend: this frame will not run on. The loop destroys it when its stack is clear. The caller stays
// suspended.
void unwind_frame(promise_base& frame, reason why) noexcept;
// As above, with the reason of the region that the frame runs in.
void unwind_frame(promise_base& frame) noexcept;

// The awaiter at the end of every frame.
template <transfer Mode>
class final_await {
public:
    final_await() noexcept = default;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    [[gnu::always_inline]] auto await_suspend(std::coroutine_handle<Promise> self) const noexcept ->
        typename transfer_to<Mode>::result {
        await_link& link = *self.promise().link();
        if constexpr (Mode == transfer::counted) {
            if (self.promise().region().is_last_step()) [[unlikely]] {
                return through_loop(self.promise(), link);
            }
        }
        if (!link.is_boundary()) [[likely]] {
            return transfer_to<Mode>::frame(link.waiter().handle());
        }
        if (link.ops().only_cancelled()) {
            return transfer_to<Mode>::frame(link.ops().waiter(link).handle());
        }
        return transfer_to<Mode>::ended(self.promise());
    }
    void await_resume() const noexcept {}

private:
    // The end of a frame is no checkpoint: the next step is one, and reads the clock.
    template <class Promise>
    [[gnu::noinline]] static auto through_loop(Promise& ended, await_link& link) noexcept ->
        typename transfer_to<Mode>::result {
        ended.region().set_steps(1);
        if (!link.is_boundary()) {
            return transfer_to<Mode>::bounced(link.waiter().handle());
        }
        if (link.ops().only_cancelled()) {
            return transfer_to<Mode>::bounced(link.ops().waiter(link).handle());
        }
        frame_ended(ended);
        return transfer_to<Mode>::none();
    }
};

}  // namespace roost::inline ROOST_ABI::detail
