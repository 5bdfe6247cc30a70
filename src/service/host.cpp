#include <roost/service/host.hpp>

#include <roost/observe/dump.hpp>
#include <roost/service/detail/host_core.hpp>

namespace roost::inline ROOST_ABI::service {

using namespace observe;

component& host::add(node_name name, const component_options& options, std::source_location where) {
    return core_->components().add(name, options, where);
}
component& host::main() noexcept { return core_->components().main(); }
ledger& host::ledger() noexcept { return core_->ledger(); }
executor_ref host::executor() const noexcept { return core_->executor(); }
void host::keep(std::shared_ptr<void> object) { core_->keep(std::move(object)); }

void host::set_ready(bool ready) noexcept { core_->set_ready(ready); }
bool host::is_ready() const noexcept { return core_->is_ready(); }
bool host::is_live() const noexcept { return core_->is_live(); }
void host::set_live(bool live) noexcept { core_->set_live(live); }
phase host::phase() const noexcept { return core_->phase(); }

duration host::remaining() const noexcept {
    const time_point end = core_->hard_deadline();
    if (end == no_deadline) {
        return duration::max();
    }
    const duration left = end - now();
    return left > duration(0) ? left : duration(0);
}

std::string host::status() const { return core_->status(); }
std::string host::tree() const { return dump(core_->root().tree_node()); }
shutdown_report host::report() const { return core_->report(); }

void host::shut_down(std::string_view why) noexcept { core_->wish_for(detail::wish::shut_down, why); }
void host::cancel(std::string_view why) noexcept { core_->wish_for(detail::wish::cancel, why); }
void host::on_reload(std::function<task<>()> hook) { core_->set_reload(std::move(hook)); }
void host::log(severity how, std::string_view text) noexcept { core_->log(how, text); }

}  // namespace roost::inline ROOST_ABI::service
