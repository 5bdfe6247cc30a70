#pragma once

// Spans for a tracing library, without depending on one: two functions that are called at the start and at the end of every
// job.
//
//   void start(void* tracer, const job_event& e) noexcept;        e.id() is the span, e.parent() the one above it
//   void end(void* tracer, const job_event& e) noexcept;          e.state() is the outcome, e.why() the reason of a cancel
//
//   const observe::trace_hooks spans(start, end, &tracer);        until it is destroyed

#include <roost/observe/job_events.hpp>

namespace roost::inline ROOST_ABI::observe {

// Calls `start` when a job is created and `end` when it has ended, from its constructor to its destructor. The call is made
// on a thread that causes the event, with no lock held. Several threads may call the functions at once, for different jobs.
// For a job that existed before the constructor, `end` may be called without `start`. For a job that outlives this object,
// `end` is not called. The object counts as an `observation`, of which there are at most eight. The constructor throws
// error(refused) if there are eight. The destructor waits until no call is running.
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
