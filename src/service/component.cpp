#include <roost/service/component.hpp>

#include <roost/base/failure_sink.hpp>

#include <mutex>
#include <new>
#include <string>

namespace roost::inline ROOST_ABI::service {

using namespace ext;

namespace detail {

const roost::detail::scope_policy component_scope::policy(
    +[](roost::detail::scope_core& scope, roost::detail::job_core& child) noexcept {
        component& owner = static_cast<component_scope&>(scope).owner();
        if (child.outcome_link().state() == roost::detail::ending::threw) {
            owner.failed("job", child.name(), child.made_at(), child.outcome_link().error());
        }
        child.suppressed().for_each(
            [&owner, &child](const std::exception_ptr& other) { owner.failed("job", child.name(), child.made_at(), other); },
            child.own_error());
    },
    roost::detail::scope_policy::wants::failures);

constinit const roost::detail::node_functions component_scope::functions{
    .kind = "scope", .destroy = destroy, .level_raised = nullptr, .drained = drained, .own = roost::detail::own_work::none};

component_scope::component_scope(component& owner, roost::detail::node& parent, executor_ref where, site made_at)
    : scope_core(functions, parent, where, "jobs", made_at, policy), owner_(owner) {}

void component_scope::destroy(roost::detail::node& self) noexcept {
    delete &static_cast<component_scope&>(static_cast<roost::detail::region&>(self));
}

bool component_scope::drained(roost::detail::node& self) noexcept {
    return !static_cast<component_scope&>(static_cast<roost::detail::region&>(self)).hold_for_daemons();
}

roost::detail::node_ref<component_scope> component_scope::make(component& owner, roost::detail::node& parent,
                                                               executor_ref where, site made_at) {
    auto* made = new component_scope(owner, parent, where, made_at);
    if (made->attach(roost::detail::child_kind::idle) == roost::detail::attached::refused) {
        made->discard();
        throw std::bad_alloc();
    }
    return roost::detail::node_ref<component_scope>::adopt(made);
}

}  // namespace detail

component::component(roost::shutdown node, executor_ref where, const component_options& options, site made_at,
                     detail::component_failures* failures)
    : shutdown_(std::move(node)),
      options_(options),
      failures_(failures),
      scope_(
          detail::component_scope::make(*this, roost::detail::tree_access::core_of(shutdown_.tree_node()), where, made_at)),
      jobs_(*scope_) {}

component::~component() { close(); }

void component::close() noexcept { scope_->close(); }

void component::failed(std::string_view what, std::string_view who, site made_at, const std::exception_ptr& error) noexcept {
    std::string text;
    try {
        text.append("component '").append(name()).append("': ").append(what);
        what = text;
    } catch (...) {}  // no memory: reported without its component
    report_failure(what, who, made_at, error);
    report_component_failure(error);
}

void component::fail(const std::exception_ptr& error) noexcept {
    report_failure("component", name(), shutdown_.tree_node().site(), error);
    report_component_failure(error);
}

void component::report_component_failure(const std::exception_ptr& error) noexcept {
    if (failures_ != nullptr && !options_.is_optional()) {
        failures_->component_failed(*this, error);
    }
}

void component::on_stop(std::function<task<>()> hook) {
    const std::lock_guard hold(lock_);
    hook_.swap(hook);
}

namespace {

// The hook is a parameter, so that what it captures lives as long as its job.
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
    // A unit of work, so that the component is not over between the stop and the start of the hook.
    const roost::guard starting = shutdown_.guard();
    static_cast<void>(shutdown_.shut_down(std::move(why)));
    if (hook) {
        try {
            jobs_.launch("stop hook", run_hook(std::move(hook)));
        } catch (...) {
            failed("job", "stop hook", shutdown_.tree_node().site(), std::current_exception());
        }
    }
}

}  // namespace roost::inline ROOST_ABI::service
