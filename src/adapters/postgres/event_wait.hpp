#pragma once

// What resumes a suspended coroutine of the adapter: an event of its socket, its limit, or another thread.
//
//   begin --(event | limit | claim)--> woken, on the coroutine's executor --> end --> begin, ...
//
// The executor's driver watches the socket, and its timers hold the limits. An executor without both has them from the
// poller's own thread.
//
// Why it is not simpler: the three come from different threads at the same time. So each wait is a choice, which the first of
// them wins; end() unlinks the others. The limits stay armed from one wait to the next. One that passes between two waits is
// found when the next begins.
//
// Fields   now_, ended_, expired_, why_: under lock_. hurry_: the caller of hurry() has a lock that the coroutine takes before
//          it ends

#include <roost/adapters/postgres/poller.hpp>
#include <roost/exec/resume.hpp>
#include <roost/exec/timer.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/sync/detail/choice.hpp>
#include <roost/sync/waiter.hpp>

#include <coroutine>
#include <cstdint>
#include <optional>
#include <system_error>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// A suspended coroutine and its executor.
class continuation {
public:
    using resume_function = ext::resume_function;

    continuation() noexcept = default;
    template <class Promise>
    explicit continuation(std::coroutine_handle<Promise> h) noexcept
        : continuation(ext::executor_of(h), h.address(), ext::resume_function_of<Promise>()) {}
    continuation(executor_ref where, void* frame, resume_function f) noexcept
        : executor_(where), frame_(frame), resume_(f) {}
    void resume() const noexcept { resume_(frame_); }
    void post(ext::work& w) const noexcept;
    // As post(), but behind everything that the executor has queued.
    void post_last(ext::work& w) const noexcept;
    [[nodiscard]] executor_ref executor() const noexcept { return executor_; }

private:
    executor_ref executor_;
    void* frame_ = nullptr;
    resume_function resume_ = nullptr;
};

class event_wait : private ext::work {
public:
    using woken_function = void (*)(event_wait&) noexcept;
    enum event : std::uint32_t { none = 0, readable = 1, writable = 2, expired = 4, refused = 8 };

    // `woken` is called on the coroutine's executor, once for each wait that begin() began.
    event_wait(poller& shared, woken_function woken) noexcept;
    event_wait(const event_wait&) = delete;
    event_wait& operator=(const event_wait&) = delete;

    // --- called by the coroutine ---
    void bind(const continuation& next) noexcept;
    [[nodiscard]] const continuation& next() const noexcept { return next_; }
    // The present wait, or the next one, ends at this time. Moves the limit of an earlier call. Requires bind(). Blocks while
    // the limit that it moves is passing.
    void set_limit(time_point at) noexcept { arm(limit_, at); }
    // Waits for `events` of the socket, or only for a limit or a claim if it is null. Returns false if there is no need to wait,
    // or if the socket cannot be watched; end() then returns why.
    [[nodiscard]] bool begin(io::descriptor* socket, std::uint32_t events) noexcept;
    // Called after every wait. Returns what ended it: no event after a claim.
    std::uint32_t end() noexcept;
    [[nodiscard]] std::error_code why_refused() const noexcept { return why_; }
    // Calls `woken` as an event would, behind what the executor has queued. Requires that no wait has begun.
    void post_last() noexcept { next_.post_last(*this); }

    // --- called by any thread that knows that this object lives ---
    // Returns true if a wait had begun and nothing else has ended it. Then only post() resumes the coroutine.
    [[nodiscard]] bool claim() noexcept;
    void post() noexcept { next_.post(*this); }
    // As set_limit(), for a limit of its own.
    void hurry(time_point at) noexcept { arm(hurry_, at); }

protected:
    ~event_wait();

private:
    class limit final : public ext::timer {
    public:
        explicit limit(event_wait& of) noexcept;
        [[nodiscard]] bool is_armed() const noexcept { return timers_ != nullptr; }
        [[nodiscard]] bool arm(ext::timer_service* in, time_point at) noexcept;
        void disarm() noexcept;

    private:
        event_wait* of_;
        ext::timer_service* timers_ = nullptr;  // null: not armed
    };

    // One wait.
    class attempt final : public roost::detail::choice {
    public:
        explicit attempt(event_wait& of) noexcept : of_(&of) {}
        // Returns none if it is queued, or why not.
        [[nodiscard]] std::uint32_t start(io::descriptor& socket, std::uint32_t events) noexcept;
        [[nodiscard]] std::uint32_t finish() noexcept;

    private:
        using operation = io::descriptor::operation;
        static void happened(ext::work& w) noexcept;
        [[nodiscard]] std::uint32_t start_one(operation& op, std::uint32_t event) noexcept;
        [[nodiscard]] std::uint32_t finish_one(std::optional<operation>& op, std::uint32_t event) noexcept;

        event_wait* of_;
        std::optional<operation> in_;
        std::optional<operation> out_;
    };

    void arm(limit& which, time_point at) noexcept;
    void expire(std::error_code why) noexcept;

    poller& shared_;
    woken_function woken_;
    continuation next_;
    executor_ref source_;  // of events and limits
    limit limit_;
    limit hurry_;

    small_mutex lock_;
    std::optional<attempt> now_;
    std::uint32_t ended_ = none;
    bool expired_ = false;
    std::error_code why_;  // it cannot wait
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
