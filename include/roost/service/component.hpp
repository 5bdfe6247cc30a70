#pragma once

// A part of a service with a place in the order of shutdown.
//
//   service::component& web = host.add("web", service::component_options().intake());
//   web.launch("accept", accept_loop(web.shutdown()));          // jobs below it are its work
//   auto g = web.shutdown().guard();                            // so are guards, for threads and other libraries
//
// Stopping a component latches stop on its node, runs its hook, and waits until nothing below it is left. A component whose job
// or hook ends with an error has failed, and with it the service, unless the component is optional().

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
    release,  // stopped in phase release, when all work is gone: pools, connections, logs. Not reached by cancel before that.
};

class component_options {
public:
    constexpr component_options() noexcept = default;

    constexpr component_options& in(service::stage s) noexcept { return stage_ = s, *this; }
    constexpr component_options& intake() noexcept { return in(service::stage::intake); }
    constexpr component_options& release() noexcept { return in(service::stage::release); }
    // Components of one stage stop from the largest rank to the smallest, those of equal rank together. Without one, the last
    // to be added stops first. Ranks come before components without one.
    constexpr component_options& rank(int r) noexcept { return rank_ = r, *this; }
    // The next one is stopped after this time even if this one is still at work. Without one: an equal share of what is left
    // of the phase.
    constexpr component_options& budget(duration d) noexcept { return budget_ = d, *this; }

    // The service goes on without it when it fails. The failure is logged all the same.
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

class component;

namespace detail {

class component_list;

// What a component that is not optional tells of its failure. From any thread.
class component_failures {
public:
    virtual void component_failed(const component& which, const std::exception_ptr& error) noexcept = 0;

protected:
    ~component_failures() = default;
};

// The node behind component::jobs(): below the component's, with no work of its own.
class component_scope final : public roost::detail::scope_core {
public:
    [[nodiscard]] static node_ref<component_scope> make(component& owner, node& parent, executor_ref where, site made_at);
    [[nodiscard]] component& owner() const noexcept { return owner_; }

private:
    component_scope(component& owner, node& parent, executor_ref where, site made_at);
    static void destroy(node& self) noexcept;
    static bool drained(node& self) noexcept;
    static const node_functions functions;
    static const roost::detail::scope_policy policy;
    component& owner_;
};

class component_jobs final : public scope {
public:
    explicit component_jobs(component_scope& core) noexcept : scope(core) {}
};

}  // namespace detail

// Made by host::add; lives as long as the service.
class component {
public:
    component(const component&) = delete;
    component& operator=(const component&) = delete;

    [[nodiscard]] std::string_view name() const noexcept { return shutdown_.name(); }
    [[nodiscard]] const component_options& options() const noexcept { return options_; }

    // Its node: guard(), interrupt(x), child(name), shutting_down(), observe(), report().
    [[nodiscard]] const roost::shutdown& shutdown() const noexcept { return shutdown_; }
    // Its scope: launch and async. A job that ends with an error fails the component. For work that may fail by itself (a
    // request) catch inside, use a supervisor, or make the component optional.
    [[nodiscard]] scope& jobs() noexcept { return jobs_; }
    template <class T>
    job launch(node_name name, task<T> t, std::source_location where = std::source_location::current()) {
        return jobs().launch(name, std::move(t), start::scheduled, where);
    }

    // What to do when it is stopped, as a job of its own: close a listener, end a pool. Before the stop; the last one counts.
    void on_stop(std::function<task<>()> hook);

    // For threads and other libraries, which have no job to fail: logs the error. Unless the component is optional, the service
    // is not ready from now on, shuts down, and exits with component_failed. From any thread.
    void fail(const std::exception_ptr& error) noexcept;

private:
    friend class detail::component_list;
    friend class detail::component_scope;
    component(roost::shutdown node, executor_ref where, const component_options& options, site made_at,
              detail::component_failures* failures);
    void tell_failure(const std::exception_ptr& error) noexcept;
    void failed(std::string_view what, std::string_view who, site made_at, const std::exception_ptr& error) noexcept;
    ~component();
    void begin_stop(reason why) noexcept;  // once
    void close() noexcept;  // takes no more jobs
    [[nodiscard]] bool is_over() const noexcept { return is_complete(shutdown_.state()); }

    roost::shutdown shutdown_;
    component_options options_;
    detail::component_failures* failures_;
    node_ref<detail::component_scope> scope_;
    detail::component_jobs jobs_;
    small_mutex lock_;
    std::function<task<>()> hook_;
    bool stopped_ = false;
};

}  // namespace roost::inline ROOST_ABI::service
