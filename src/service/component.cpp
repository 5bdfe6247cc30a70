#include <roost/service/component.hpp>

#include <roost/task/failure_sink.hpp>

#include <mutex>
#include <new>

namespace roost::inline ROOST_ABI::service {

namespace detail {

constinit const node_functions component_scope::functions{
    .kind = "scope", .destroy = destroy, .level_raised = nullptr, .drained = drained};

component_scope::component_scope(node& parent, executor_ref where, site made_at)
    : scope_core(functions, parent, where, "jobs", made_at, roost::detail::root_policy) {}

void component_scope::destroy(node& self) noexcept {
    delete &static_cast<component_scope&>(static_cast<roost::detail::region&>(self));
}

bool component_scope::drained(node& /*self*/) noexcept { return true; }

node_ref<component_scope> component_scope::make(node& parent, executor_ref where, site made_at) {
    auto* made = new component_scope(parent, where, made_at);
    if (made->attach(child_kind::idle) == attached::refused) {
        made->discard();
        throw std::bad_alloc();
    }
    return node_ref<component_scope>::adopt(made);
}

}  // namespace detail

component::component(roost::shutdown node, executor_ref where, const component_options& options, site made_at)
    : shutdown_(std::move(node)),
      options_(options),
      scope_(detail::component_scope::make(shutdown_.tree_node(), where, made_at)),
      jobs_(*scope_) {}

component::~component() { close(); }

void component::close() noexcept { scope_->close(); }

void component::on_stop(std::function<task<>()> hook) {
    const std::lock_guard hold(lock_);
    hook_.swap(hook);
}

namespace {

// A parameter, so that what the hook captures lives as long as its job.
task<> run_hook(std::function<task<>()> hook) {
    task<> body = hook();
    co_await std::move(body);
}

}  // namespace

void component::begin_stop(reason why) noexcept {
    std::function<task<>()> hook;
    {
        const std::lock_guard hold(lock_);
        if (stopped_) {
            return;
        }
        stopped_ = true;
        hook.swap(hook_);
    }
    // A unit of its own, so that it is not over between the stop and the hook's start.
    const roost::guard starting = shutdown_.guard();
    static_cast<void>(shutdown_.shut_down(std::move(why)));
    if (hook) {
        try {
            jobs_.launch("stop hook", run_hook(std::move(hook)));
        } catch (...) {
            report_failure("the stop hook of component", name(), shutdown_.tree_node().made_at(), std::current_exception());
        }
    }
}

}  // namespace roost::inline ROOST_ABI::service
