#pragma once

// The interface between a service and its root task.

#include <roost/service/component.hpp>
#include <roost/service/detail/forward.hpp>
#include <roost/service/ledger.hpp>
#include <roost/service/log_sink.hpp>
#include <roost/service/phase.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

// Thread-safe. Valid until run() returns.
class host {
public:
    explicit host(detail::host_core& core) noexcept : core_(&core) {}
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    // --- parts -------------------------------------------------------------------------------------------------------
    // Adds a component. If its stage is stopping or has stopped, the component is stopped from the start. Throws
    // error(refused) if the budgets of its stage exceed the budget of the phase.
    component& add(node_name name, const component_options& options = {},
                   std::source_location where = std::source_location::current());
    // Returns the component of the root task. It is stopped last in phase drain.
    [[nodiscard]] component& main() noexcept;
    // Returns a notice of the stop, for root tasks that only wait for it: co_await h.stopping();
    [[nodiscard]] shutdown_notice stopping() noexcept { return main().shutdown().shutting_down(); }
    [[nodiscard]] service::ledger& ledger() noexcept;
    [[nodiscard]] executor_ref executor() const noexcept;
    // Keeps the object until the threads of the service are joined, after phase exit. Objects are released in the reverse order.
    // A later call releases its object at once. Throws std::bad_alloc.
    void keep(std::shared_ptr<void> object);

    // --- state -------------------------------------------------------------------------------------------------------
    // Sets whether the service can serve. The first true sends READY=1 to the service manager.
    void set_ready(bool ready = true) noexcept;
    // Returns true if set_ready(true) is in effect, nothing has failed, and no shutdown has begun.
    [[nodiscard]] bool is_ready() const noexcept;
    // Returns true if the executor runs posted work within live_within() and set_live(false) is not in effect.
    [[nodiscard]] bool is_live() const noexcept;
    void set_live(bool live) noexcept;
    [[nodiscard]] service::phase phase() const noexcept;
    // Returns the time until the hard deadline, or duration::max() while no shutdown has begun.
    [[nodiscard]] duration remaining() const noexcept;
    // Returns one line for operators: "drain, 3 outstanding, oldest job 'a' 2 s, 9 s left".
    [[nodiscard]] std::string status() const;
    // Returns the tree of all live nodes, as text.
    [[nodiscard]] std::string tree() const;
    // Returns the work that shutdown is waiting for.
    [[nodiscard]] shutdown_report report() const;

    // --- requests ----------------------------------------------------------------------------------------------------
    void shut_down(std::string_view why = "requested by the program") noexcept;  // does what the first signal does
    void cancel(std::string_view why = "requested by the program") noexcept;  // does what the second signal does
    // Sets the hook for SIGHUP. It runs as a job of main, one at a time. It may outlive the root task's body, so it must
    // not capture that body's locals. Without a hook SIGHUP shuts the service down as SIGTERM does.
    void on_reload(std::function<task<>()> hook);

    void log(severity how, std::string_view text) noexcept;
    void log(std::string_view text) noexcept { log(severity::info, text); }

private:
    detail::host_core* core_;
};

}  // namespace roost::inline ROOST_ABI::service
