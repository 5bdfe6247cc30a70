#pragma once

// What a root task is given: its place in the service.

#include <roost/service/component.hpp>
#include <roost/service/ledger.hpp>
#include <roost/service/log_sink.hpp>
#include <roost/service/phase.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service {

namespace detail {
class host_core;
}

// All calls from any thread, until run() returns.
class host {
public:
    explicit host(detail::host_core& core) noexcept : core_(&core) {}
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    // --- parts -------------------------------------------------------------------------------------------------------
    // When its stage is being stopped already, it is born stopped. Throws error(refused) when the budgets of its stage are
    // more than the phase has.
    component& add(node_name name, const component_options& options = {},
                   std::source_location where = std::source_location::current());
    // What the root task itself belongs to: told to stop last in phase drain.
    [[nodiscard]] component& main() noexcept;
    // The same for root tasks that only wait: co_await h.stopping();
    [[nodiscard]] shutdown_notice stopping() noexcept { return main().shutdown().shutting_down(); }
    [[nodiscard]] service::ledger& ledger() noexcept;
    [[nodiscard]] executor_ref executor() const noexcept;

    // --- state -------------------------------------------------------------------------------------------------------
    // The root task says when it can serve. READY=1 goes to the service manager with the first time.
    void set_ready(bool ready = true) noexcept;
    // Said so, and no shutdown has begun.
    [[nodiscard]] bool is_ready() const noexcept;
    // The executor runs what is posted to it within live_within(), and nobody said set_live(false).
    [[nodiscard]] bool is_live() const noexcept;
    void set_live(bool live) noexcept;
    [[nodiscard]] service::phase phase() const noexcept;
    // Until the hard deadline; duration::max() while no shutdown has begun.
    [[nodiscard]] duration remaining() const noexcept;
    // One line for people: "draining, 3 outstanding, oldest job 'a' 2.0 s, 9 s left".
    [[nodiscard]] std::string status() const;
    // Everything that lives, as text.
    [[nodiscard]] std::string tree() const;
    // Who holds up what the service is waiting for now.
    [[nodiscard]] shutdown_report report() const;

    // --- asking ------------------------------------------------------------------------------------------------------
    void shut_down(std::string_view why = "requested by the program") noexcept;  // as the first signal
    void cancel(std::string_view why = "requested by the program") noexcept;  // as the second
    // Runs on SIGHUP, one at a time, as a job of main; one may still run when the root task's body has ended, so it must not
    // capture that body's locals. Without a hook SIGHUP asks for the end as SIGTERM does.
    void on_reload(std::function<task<>()> hook);

    void log(severity how, std::string_view text) noexcept;
    void log(std::string_view text) noexcept { log(severity::info, text); }

private:
    detail::host_core* core_;
};

}  // namespace roost::inline ROOST_ABI::service
