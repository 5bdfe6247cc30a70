#pragma once

// Spans for a tracing library, without depending on one: two functions that are called at the start and at the end of every job.
//
//   void start(void* tracer, const job_event& e) noexcept;        e.id() is the span, e.parent() what it belongs to
//   void end(void* tracer, const job_event& e) noexcept;          e.state() says how it ended, e.why() why it was cancelled
//
//   const observe::trace_hooks spans(start, end, &tracer);        until it is destroyed

#include <roost/observe/job_events.hpp>

namespace roost::inline ROOST_ABI::observe {

// Calls `start` when a job is created and `end` when it has ended, from its constructor to its destructor, on a thread that causes
// the event, with no lock held. Several threads may call them at once, for different jobs. A job that existed before the
// constructor may be ended without a start; one that lives longer is not ended. As an `observation`, of which there are at most
// eight: the constructor throws error(refused), and the destructor waits until no call is running.
class trace_hooks final : private job_observer {
public:
    using function = void (*)(void* context, const job_event& e) noexcept;

    trace_hooks(function start, function end, void* context = nullptr)
        : start_(start), end_(end), context_(context), observed_(*this) {}

private:
    void on_event(const job_event& e) noexcept override {
        if (e.kind() == job_event_kind::created) {
            start_(context_, e);
        } else if (e.kind() == job_event_kind::finished) {
            end_(context_, e);
        }
    }

    function start_;
    function end_;
    void* context_;
    observation observed_;  // last: from here on the functions are called
};

}  // namespace roost::inline ROOST_ABI::observe
