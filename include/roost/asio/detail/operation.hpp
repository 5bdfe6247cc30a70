#pragma once

// An Asio operation that a task awaits: the part that does not depend on its results. Lives in the awaiting frame.
//
// Why it is not simpler: Asio's cancellation signals are not thread-safe. Emitting one while a handler of the same
// operation runs on another thread is a data race (Asio's issue 1348), and after the operation has ended the slot's handler
// is gone (issues 1029 and 1576). So the signal is emitted by a function that is posted to the operation's own executor,
// which is made serial first. The frame, which holds the signal, is resumed only when that function has left.
//
// id  operation                order    pairs  carries
// P1  post_emission: store     seq_cst  P3     the poster is inside post()
// P2  post_emission: exchange  seq_cst  P3     whether the emission was destroyed meanwhile: then the poster accounts for it
// P3  ~emission: CAS           seq_cst  P1 P2  as P2; the destroying thread accounts for it when the poster has left

#include <roost/asio/detail/net.hpp>
#include <roost/asio/detail/operation_state.hpp>
#include <roost/asio/detail/pooled_signal.hpp>
#include <roost/base/atomic.hpp>
#include <roost/task/detail/job/region.hpp>
#include <roost/tree/detail/passing_callback.hpp>

#include <cstdint>
#include <exception>
#include <optional>

namespace roost::inline ROOST_ABI::detail {

// How an operation that was cancelled has ended.
enum class ended_as : std::uint8_t {
    result,  // a value or an error; also the number of bytes that an aborted transfer had moved, if the body can see it
    failure,  // an exception_ptr other than operation_aborted
    aborted,  // the cancel took effect, and there is no result
};

class operation : private cancellable, private ext::work {
public:
    using ending_function = ended_as (*)(const operation&) noexcept;

    operation(promise_base& me, ending_function ending, bool ends_at_stop) noexcept;
    ~operation() = default;

    // --- the operation's side, from any thread --------------------------------------------------------------------------
    // Returns the executor for the handlers and for the emission of the signal: serial, made from the first one that is
    // offered. Without memory for a strand it is the offered one, and cancellation does not end the operation early.
    [[nodiscard]] net::any_io_executor serial_executor(const net::any_io_executor& offered) noexcept {
        return has_executor_ ? executor_ : make_serial_executor(offered);
    }
    [[nodiscard]] net::cancellation_slot slot() noexcept { return signal_.slot(); }
    // Called after the handler's arguments have been stored.
    void handler_called() noexcept { handler_gone(); }
    // Called when the handler is destroyed without being called.
    void handler_dropped() noexcept {
        dropped_ = true;
        handler_gone();
    }

protected:
    // --- the awaiting side ------------------------------------------------------------------------------------------------
    using cancellable::frame;
    // Sets the executor while a failure can still be thrown: nothing has begun.
    void prepare(const net::any_io_executor& offered);
    // Returns false if the task is cancelled; the frame unwinds.
    [[nodiscard]] bool may_begin() noexcept;
    // Called before and after the initiating function. after_begin() returns the result of await_suspend.
    void before_begin();
    [[nodiscard]] bool after_begin() noexcept;
    void keep_error(std::exception_ptr error) noexcept { error_ = std::move(error); }
    // Called first in await_resume.
    void finish() {
        on_stop_.reset();
        if (error_) {
            std::rethrow_exception(std::exchange(error_, nullptr));
        }
    }

private:
    static bool pass_cancel_on(cancellable& self) noexcept;
    static ext::wait_target what(const cancellable&) noexcept { return ext::wait_target("Asio operation", ""); }
    static constexpr wait_functions functions{&pass_cancel_on, &what};

    // Runs on any thread, also while the frame is being destroyed: then the frame is in another region.
    class stop_hook {
    public:
        stop_hook(operation& owner, const region& in) noexcept : owner_(&owner), in_(&in) {}
        void operator()() const noexcept { owner_->level_raised(*in_); }

    private:
        operation* owner_;
        const region* in_;
    };
    // The emission when the operation has no executor to post it to, or no memory for the post.
    class local_emission final : public ext::work {
    public:
        explicit local_emission(operation& owner) noexcept
            : ext::work(+[](ext::work& self) noexcept { static_cast<local_emission&>(self).act(); }), owner_(&owner) {}
        // True: post the emission again instead of emitting.
        void set_retries(bool retries) noexcept { retries_ = retries; }

    private:
        void act() noexcept { retries_ ? owner_->post_emission() : owner_->emit(); }
        operation* owner_;
        bool retries_ = false;
    };
    class emission;
    // How an emission enters the queue of an executor. The executor may destroy it unrun: at once, or later on another
    // thread.
    enum class post_phase : std::uint8_t { idle, posting, dropped };

    [[nodiscard]] net::any_io_executor make_serial_executor(const net::any_io_executor& offered) noexcept;
    void level_raised(const region& in) noexcept;
    void request(wish what) noexcept;
    void post_emission() noexcept;
    void emit() noexcept;
    [[nodiscard]] bool leave_emission() noexcept;
    void emission_lost() noexcept;
    void handler_gone() noexcept;
    void wake() noexcept;
    static void run_woken(ext::work& self) noexcept;

    [[nodiscard]] bool loses_its_result(const region& in) const noexcept;

    ending_function ending_;
    bool ends_at_stop_;
    bool dropped_ = false;
    bool suspended_ = false;
    bool has_executor_ = false;  // for the operation's own calls, which come one after the other
    bool serial_ = true;  // under executor_lock_; false: emitting would not be safe
    atomic<post_phase> posting_{post_phase::idle};
    state_word<operation_state> state_;
    small_mutex executor_lock_;
    net::any_io_executor executor_;
    pooled_signal signal_;
    std::optional<passing_callback<stop_hook>> on_stop_;
    std::exception_ptr error_;
    local_emission local_emission_;
};

}  // namespace roost::inline ROOST_ABI::detail
