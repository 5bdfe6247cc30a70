#pragma once

#include <roost/exec/executor.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/service/attachment.hpp>
#include <roost/service/budgets.hpp>
#include <roost/service/log_sink.hpp>

#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::service {

class options {
public:
    constexpr options() noexcept = default;

    constexpr options& name(std::string_view text) noexcept { return name_ = text, *this; }

    // How long shutdown may take; see budgets.hpp. The environment overrides these values.
    constexpr options& total(duration d) noexcept { return budgets_.total(d), *this; }
    constexpr options& budget(phase p, duration d) noexcept { return budgets_.set(p, d), *this; }
    // Prefix of the variables: ROOST_SHUTDOWN_TOTAL and so on. Empty: the environment is not read.
    constexpr options& environment(std::string_view prefix) noexcept { return prefix_ = prefix, *this; }

    // How often the outstanding work is logged while shutdown waits.
    constexpr options& report_every(duration d) noexcept { return report_every_ = d, *this; }
    // How long the executor may take to run posted work before is_live() returns false.
    constexpr options& live_within(duration d) noexcept { return live_within_ = d, *this; }
    constexpr options& sink(log_sink s, void* context = nullptr) noexcept {
        return sink_ = s, sink_context_ = context, *this;
    }

    // The most bytes of lines that wait for the sink. Beyond that the oldest lines are dropped and counted. At least 4096.
    constexpr options& log_buffer(std::size_t bytes) noexcept { return log_buffer_ = bytes, *this; }

    // The service creates a runtime with these options ...
    constexpr options& runtime(const runtime_options& r) noexcept { return runtime_ = r, *this; }
    // ... or uses this executor: an event loop, a thread pool. It must be running, and must outlive run().
    constexpr options& on(executor_ref where) noexcept { return where_ = where, *this; }

    // False: no signal handlers are installed; only the program can start the shutdown.
    constexpr options& signals(bool handled) noexcept { return signals_ = handled, *this; }

    // Calls a(host) before the root task begins, on the thread that called run(). Each call adds one. If one throws, the
    // service is not started.
    constexpr options& attach(attachment a) { return attached_ = std::move(attached_).then(std::move(a)), *this; }

    [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
    [[nodiscard]] constexpr const service::budgets& budgets() const noexcept { return budgets_; }
    [[nodiscard]] constexpr std::string_view environment() const noexcept { return prefix_; }
    [[nodiscard]] constexpr duration report_every() const noexcept { return report_every_; }
    [[nodiscard]] constexpr duration live_within() const noexcept { return live_within_; }
    [[nodiscard]] constexpr log_sink sink() const noexcept { return sink_; }
    [[nodiscard]] constexpr void* sink_context() const noexcept { return sink_context_; }
    [[nodiscard]] constexpr std::size_t log_buffer() const noexcept { return log_buffer_; }
    [[nodiscard]] constexpr const runtime_options& runtime() const noexcept { return runtime_; }
    [[nodiscard]] constexpr executor_ref on() const noexcept { return where_; }
    [[nodiscard]] constexpr bool signals() const noexcept { return signals_; }
    [[nodiscard]] constexpr const attachment& attached() const noexcept { return attached_; }

private:
    std::string_view name_ = "service";
    service::budgets budgets_;
    std::string_view prefix_ = "ROOST_SHUTDOWN";
    duration report_every_ = std::chrono::seconds(2);
    duration live_within_ = std::chrono::seconds(10);
    log_sink sink_ = log_to_stderr;
    void* sink_context_ = nullptr;
    std::size_t log_buffer_ = std::size_t{4} << 20U;  // the longest tree that is printed fits
    runtime_options runtime_;
    executor_ref where_;
    bool signals_ = true;
    attachment attached_;
};

}  // namespace roost::inline ROOST_ABI::service
