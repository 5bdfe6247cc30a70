#pragma once

// The trace that a request belongs to: the traceparent header of W3C Trace Context. A job has it as a value, and so do the
// jobs that it starts.
//
//   const auto came = observe::trace_context::parse(request.header("traceparent"));
//   const auto trace = came ? came->child() : observe::trace_context::fresh();
//   co_await with_value(observe::current_trace, trace, handle(request));
//
//   const observe::trace_context* trace = co_await observe::current_trace.find();          in handle(), or in a job it started
//   took.record(elapsed, trace->as_exemplar());

#include <roost/observe/exemplar.hpp>
#include <roost/task/job_local.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace roost::inline ROOST_ABI::observe {

// A trace id, the id of a span in it, and whether the trace is recorded. A plain value.
class trace_context {
public:
    static constexpr std::size_t text_size = 55;

    // Returns the context in the value of a traceparent header, of version 00 or later. Returns an empty optional if the
    // value breaks a rule: a character, a length, a separator, the version ff or an id of zeros. Of a later version, what
    // follows the flags is ignored. Thread-safe.
    [[nodiscard]] static std::optional<trace_context> parse(std::string_view traceparent) noexcept;
    // Returns a new trace with random ids; is_recorded() is true. Thread-safe.
    [[nodiscard]] static trace_context fresh() noexcept;
    // Returns a new span of the same trace, with a random id. Thread-safe.
    [[nodiscard]] trace_context child() const noexcept;

    // Returns the value of a traceparent header of version 00. The texts below are valid as long as this object.
    [[nodiscard]] std::string_view traceparent() const noexcept { return {text_.data(), text_.size()}; }
    [[nodiscard]] std::string_view trace_id() const noexcept { return traceparent().substr(3, 32); }
    [[nodiscard]] std::string_view span_id() const noexcept { return traceparent().substr(36, 16); }
    // Returns the flag `sampled`: the tracing system keeps this trace.
    [[nodiscard]] bool is_recorded() const noexcept { return text_.back() == '1'; }
    // Returns both ids as an exemplar, which is valid as long as this object.
    [[nodiscard]] metrics::exemplar as_exemplar() const noexcept { return metrics::exemplar(trace_id(), span_id()); }

private:
    constexpr trace_context() noexcept = default;
    void draw(std::size_t begin, std::size_t digits) noexcept;

    std::array<char, text_size> text_{};
};

// The trace of a job. with_value() sets it; the job, its scopes and the jobs that they start find it.
inline constexpr job_local<trace_context> current_trace;

}  // namespace roost::inline ROOST_ABI::observe
