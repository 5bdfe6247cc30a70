#pragma once

// A part of a service that has its own position in the order of shutdown.
//
//   service::component& web = host.add("web", service::component_options().intake());
//   web.launch("accept", accept_loop(web.shutdown()));          // jobs below the component are its work
//   auto g = web.shutdown().guard();                            // so are guards, for threads and other libraries
//
// Stopping a component latches stop on its node, runs its hook, and waits until its subtree is drained. A component fails
// when one of its jobs or its hook ends with an error. A failed component fails the service, unless it is optional().

#include <roost/service/detail/component_scope.hpp>
#include <roost/service/detail/forward.hpp>
#include <roost/shutdown/shutdown.hpp>
#include <roost/task/scope.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

enum class stage : std::uint8_t {
    intake,  // stopped in phase stop_intake: listeners, consumers
    work,  // stopped in phase drain
    release,  // stopped in phase release, when all work has ended: pools, connections, logs. Not cancelled before that.
};

class component_options {
public:
    constexpr component_options() noexcept = default;

    constexpr component_options& in(service::stage s) noexcept { return stage_ = s, *this; }
    constexpr component_options& intake() noexcept { return in(service::stage::intake); }
    constexpr component_options& release() noexcept { return in(service::stage::release); }
    // Components of one stage stop from the largest rank to the smallest. Components of equal rank stop together. Components
    // without a rank stop after those with one, the last added first.
    constexpr component_options& rank(int r) noexcept { return rank_ = r, *this; }
    // After this time the next component is stopped even if this one has not ended. Default: an equal share of the time left
    // in the phase.
    constexpr component_options& budget(duration d) noexcept { return budget_ = d, *this; }

    // The failure of an optional component is logged, and the service continues.
    constexpr component_options& optional(bool is = true) noexcept { return optional_ = is, *this; }

    [[nodiscard]] constexpr service::stage stage() const noexcept { return stage_; }
    [[nodiscard]] constexpr std::optional<int> rank() const noexcept { return rank_; }
    [[nodiscard]] constexpr std::optional<duration> budget() const noexcept { return budget_; }
    [[nodiscard]] constexpr bool is_optional() const noexcept { return optional_; }

private:
    service::stage stage_ = service::stage::work;
    std::optional<int> rank_;
    std::optional<duration> budget_;
    bool optional_ = false;
};

// Created by host::add(); lives as long as the service.
class component {
public:
    component(const component&) = delete;
    component& operator=(const component&) = delete;

    [[nodiscard]] std::string_view name() const noexcept { return shutdown_.name(); }
    [[nodiscard]] const component_options& options() const noexcept { return options_; }

    // Returns the component's node: guard(), interrupt(x), child(name), shutting_down(), observe(), report().
    [[nodiscard]] const roost::shutdown& shutdown() const noexcept { return shutdown_; }
    // Returns the component's scope: launch and async. A job that ends with an error fails the component. Work that may fail
    // alone (a request) catches its errors, runs under a supervisor, or belongs to an optional component.
    [[nodiscard]] scope& jobs() noexcept { return jobs_; }
    template <class T>
    job launch(node_name name, task<T> t, std::source_location where = std::source_location::current()) {
        return jobs().launch(name, std::move(t), start::scheduled, where);
    }

    // Sets the hook that runs as a job when the component is stopped: close a listener, end a pool. Requires that the
    // component is not stopped yet. A later call replaces the hook.
    void on_stop(std::function<task<>()> hook);

    // Reports an error of code that has no job: threads, other libraries. Logs the error. Unless the component is optional,
    // the service is no longer ready, shuts down, and exits with component_failed. Thread-safe.
    void fail(const std::exception_ptr& error) noexcept;

private:
    friend class detail::component_list;
    friend class detail::component_scope;
    component(roost::shutdown node, executor_ref where, const component_options& options, site made_at,
              detail::component_failures* failures);
    void report_component_failure(const std::exception_ptr& error) noexcept;
    void failed(std::string_view what, std::string_view who, site made_at, const std::exception_ptr& error) noexcept;
    ~component();
    void begin_stop(reason why) noexcept;  // the first call alone has an effect
    void close() noexcept;  // refuses new jobs
    [[nodiscard]] bool is_over() const noexcept { return shutdown_.state() == shutdown_state::complete; }

    roost::shutdown shutdown_;
    component_options options_;
    detail::component_failures* failures_;
    roost::detail::node_ref<detail::component_scope> scope_;
    detail::component_jobs jobs_;
    seam::small_mutex lock_;
    std::function<task<>()> hook_;
    bool stopped_ = false;
};

}  // namespace roost::inline ROOST_ABI::service
