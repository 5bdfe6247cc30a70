#include "explore_engine.hpp"

#include <cstdio>
#include <string_view>

// Text for people: names of verdicts and operations, summaries, traces.

namespace roost::inline ROOST_ABI {
namespace testkit {

const char* to_string(verdict v) noexcept {
    switch (v) {
        case verdict::ok: return "ok";
        case verdict::assertion: return "assertion";
        case verdict::data_race: return "data race";
        case verdict::use_after_free: return "use after free";
        case verdict::double_free: return "double free";
        case verdict::leak: return "leak";
        case verdict::deadlock: return "deadlock";
        case verdict::livelock: return "livelock";
        case verdict::nondeterminism: return "nondeterminism";
        case verdict::panic: return "panic";
        case verdict::exception: return "exception";
    }
    return "?";
}

std::string result::summary() const {
    char rate[64];
    std::snprintf(rate, sizeof rate, "%.2f s, %.0f/s", seconds,
                  seconds > 0 ? static_cast<double>(executions) / seconds : 0.0);
    std::string text = std::string(to_string(verdict)) + ": " + std::to_string(executions) + " executions (" +
                       std::to_string(redundant) + " redundant), " + std::to_string(steps) + " steps, " + rate + ", ";
    if (!complete) {
        return text + "not exhaustive";
    }
    return text + (bound == unbounded ? "exhaustive" : "exhaustive up to " + std::to_string(bound) + " preemptions");
}

std::string result::report(const char* name) const {
    if (ok()) {
        return std::string(name) + ": " + summary();
    }
    return std::string(name) + ": " + to_string(verdict) + ": " + message + "\n  found in execution " +
           std::to_string(executions) + "; this schedule has " + std::to_string(preemptions) +
           (preemptions == 1 ? " preemption" : " preemptions") + "\n  replay with ROOST_REPLAY=\"" + choices + "\"\n" +
           trace;
}

namespace detail {

const char* name_of(model_op op) noexcept {
    static const char* const names[] = {"load",           "store",         "exchange",     "compare_exchange",
                                        "fetch_add",      "fetch_sub",     "fetch_or",     "fetch_and",
                                        "plain read",     "plain write",   "lock",         "try_lock",
                                        "unlock",         "wait_on",       "wait_briefly", "wake_on",
                                        "condition wait", "notify",        "join",         "finish",
                                        "yield",          "heavy_barrier", "now",          "allocate",
                                        "deallocate",     "choose"};
    return names[static_cast<unsigned>(op)];
}

const char* name_of(std::memory_order order) noexcept {
    switch (order) {
        case std::memory_order_relaxed: return "relaxed";
        case std::memory_order_acquire: return "acquire";
        case std::memory_order_release: return "release";
        case std::memory_order_acq_rel: return "acq_rel";
        default: return "seq_cst";
    }
}

std::string place(model_site at) {
    if (at.line() == 0) {
        return "its construction";
    }
    std::string_view file = at.file_name();
    const std::size_t slash = file.rfind('/');
    if (slash != std::string_view::npos) {
        file.remove_prefix(slash + 1);
    }
    return std::string(file) + ":" + std::to_string(at.line());
}

#if defined(ROOST_SEAM_MODEL)

// Traces that one thread stops and another continues, and whether that is a preemption.
void engine::trace_switch() {
    if (traced_thread_ == current_) {
        return;
    }
    const unsigned left = traced_thread_;
    traced_thread_ = current_;
    if (left >= thread_count_ || threads_[left]->status == thread_status::finished) {
        return;
    }
    const operation& next = plan.pending(left);
    trace_.push_back("      -- T" + std::to_string(left) +
                     (threads_[left]->yielded ? " yielded before "
                      : can_step(left)        ? " is preempted before "
                                              : " waits in ") +
                     name_of(next.op) + " at " + place(next.at));
}

void engine::trace_step(const operation& what, const std::string& detail) {
    trace_switch();
    std::string line = trace_head() + place(what.at);
    line.resize(line.size() < 40 ? 40 : line.size() + 1, ' ');
    line += name_of(what.op);
    if (what.count > 0 && what.touched[0].object >= first_real_object) {
        line += " #" + std::to_string(what.touched[0].object);
    }
    trace_.push_back(line + (detail.empty() ? "" : " ") + detail);
}

void engine::trace_note(const std::string& text) { trace_.push_back(trace_head() + text); }

std::string engine::trace_head() {
    char head[32];
    std::snprintf(head, sizeof head, "%4u  T%u  ", ++trace_lines_, current_);
    return head;
}

#endif

}  // namespace detail
}  // namespace testkit
}  // namespace roost::inline ROOST_ABI
