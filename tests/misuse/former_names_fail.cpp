// Each former name warns, and the warning names the new one.
//
// The warnings are no errors here, because clang stops after twenty errors. The last line makes the file fail.
#pragma GCC diagnostic warning "-Wdeprecated-declarations"

#include <roost/former_names.hpp>

namespace {

using namespace roost;

using new_work = roost::work;  // expect: use roost::ext::work [
using new_work_list = roost::work_list;  // expect: use roost::ext::work_list [
using new_timer = roost::timer;  // expect: use roost::ext::timer [
using new_timer_service = roost::timer_service;  // expect: use roost::ext::timer_service [
using new_blocking_service = roost::blocking_service;  // expect: use roost::ext::blocking_service [
using new_blocking_work = roost::blocking_work;  // expect: use roost::ext::blocking_work [
using new_resume_function = roost::resume_function;  // expect: use roost::ext::resume_function [
using new_claim = roost::claim;  // expect: use roost::ext::claim [
using new_waiter = roost::waiter;  // expect: use roost::ext::waiter [
using new_resume_target = roost::resume_target;  // expect: use roost::ext::resume_target [
using new_wait_target = roost::wait_target;  // expect: use roost::ext::wait_target [
using new_size_hint = roost::size_hint;  // expect: use roost::ext::size_hint [
using new_wall_time = roost::wall_time;  // expect: use roost::ext::wall_time [
using new_stop_token_link = roost::stop_token_link;  // expect: use roost::ext::stop_token_link [
using new_linked_stop_source = roost::linked_stop_source;  // expect: use roost::ext::linked_stop_source [
using new_external_resource = roost::external_resource;  // expect: use roost::ext::external_resource [
using new_lease = roost::lease;  // expect: use roost::ext::lease [
using new_inline_executor = roost::inline_executor;  // expect: use roost::ext::inline_executor [
using new_dump_options = roost::dump_options;  // expect: use roost::observe::dump_options [
using new_observation = roost::observation;  // expect: use roost::observe::observation [
using new_job_counts = roost::job_counts;  // expect: use roost::observe::job_counts [
using new_job_event = roost::job_event;  // expect: use roost::observe::job_event [
using new_job_event_kind = roost::job_event_kind;  // expect: use roost::observe::job_event_kind [
using new_job_observer = roost::job_observer;  // expect: use roost::observe::job_observer [
using new_visit_function = roost::visit_function;  // expect: use roost::observe::visit_function [
using new_visit_result = roost::visit_result;  // expect: use roost::observe::visit_result [
using new_node_description = roost::node_description;  // expect: use roost::observe::node_description [
using new_guard_tracking = roost::guard_tracking;  // expect: use roost::observe::guard_tracking [
using new_shutdown_event = roost::shutdown_event;  // expect: use roost::observe::shutdown_event [
using new_shutdown_log = roost::shutdown_log;  // expect: use roost::observe::shutdown_log [
using new_shutdown_log_sink = roost::shutdown_log_sink;  // expect: use roost::observe::shutdown_log_sink [
using new_shutdown_record = roost::shutdown_record;  // expect: use roost::observe::shutdown_record [
using new_log_severity = roost::log_severity;  // expect: use roost::observe::log_severity [
using new_panic_handler = roost::panic_handler;  // expect: use roost::observe::panic_handler [
using new_lane_entry = roost::lane_entry;  // expect: use roost::observe::lane_entry [
using new_report_entry = roost::report_entry;  // expect: use roost::observe::report_entry [
using new_pool_holder = roost::pool_holder;  // expect: use roost::observe::pool_holder [
using new_overrun = roost::overrun;  // expect: use roost::observe::overrun [
using new_supervised_counts = roost::supervised_counts;  // expect: use roost::observe::supervised_counts [
using new_create_backoff = roost::create_backoff;  // expect: use roost::pool_options::create_backoff [
using new_pool_operation = roost::pool_operation;  // expect: use roost::pool_error::step [
using new_pool_status = roost::pool_status;  // expect: use roost::wait_status [
using new_overrun_function = roost::overrun_function;  // expect: use roost::runtime_options::overrun_function [

class inbox {
public:
    bool post(ext::work& w) noexcept;
};
static_assert(roost::can_post<inbox>);  // warns with clang only
using new_executor_adapter = roost::executor_adapter<inbox>;  // expect: use roost::ext::executor_adapter [
using new_inline_callback = roost::inline_callback<void (*)()>;  // expect: use roost::ext::inline_callback [
using new_interrupted_or = roost::interrupted_or<int>;  // expect: use roost::ext::interrupted_or [

constexpr duration drain = roost::store_drain_time;  // expect: use roost::seam::store_drain_time [
constexpr duration budget = roost::default_exit_budget;  // expect: the budget of on_exit is 3 s
constexpr std::size_t size = roost::wall_text_size;  // a using-declaration: no warning

void call_each(executor_ref where, ext::work& w, std::coroutine_handle<> h, const node& root, const scope& s, const job& j,
               const token& t) {
    static_cast<void>(roost::deadline_after(now(), drain));  // expect: use roost::ext::deadline_after [
    static_cast<void>(roost::cpu_quota());  // expect: use roost::ext::cpu_quota [
    static_cast<void>(roost::usable_cpus());  // expect: use roost::ext::usable_cpus [
    static_cast<void>(roost::executor_of(h));  // expect: use roost::ext::executor_of [
    static_cast<void>(roost::resume_function_of<void>());  // the same
    roost::post_or_fall_back(where, w, "work");  // expect: use roost::ext::post_or_fall_back [
    roost::set_fallback_executor(where);  // expect: use roost::ext::set_fallback_executor [
    roost::report_failure("a", "b", site(), nullptr);  // expect: use roost::ext::report_failure [
    static_cast<void>(roost::roost_category());  // expect: use roost::ext::roost_category [
    char text[size];
    roost::write_wall_time(roost::wall_now(), text);  // expect: use roost::ext::write_wall_time [
    static_cast<void>(roost::wall_now());  // expect: use roost::ext::wall_now [

    static_cast<void>(roost::dump(root));  // expect: use roost::observe::dump [
    static_cast<void>(roost::dump(s, {}));
    static_cast<void>(roost::dump(j));
    static_cast<void>(roost::dump(t));
    static_cast<void>(roost::tree_to_string(root));  // expect: use roost::observe::tree_to_string [
    roost::visit(root, 9, [](const observe::node_description&) {});  // expect: use roost::observe::visit [
    roost::visit(root, 9, nullptr, nullptr);
    static_cast<void>(roost::to_string(observe::job_event_kind::wait_woken));  // expect: use roost::observe::to_string [
    roost::set_job_counting(false);  // expect: use roost::observe::set_job_counting [
    roost::count_jobs(false);
    static_cast<void>(roost::job_counts_now());  // expect: use roost::observe::job_counts_now [
    roost::set_guard_tracking({});  // expect: use roost::observe::set_guard_tracking [
    static_cast<void>(roost::current_guard_tracking());  // expect: use roost::observe::current_guard_tracking [
    roost::set_panic_handler(nullptr);  // expect: use roost::observe::set_panic_handler [
    roost::set_shutdown_log({});  // expect: use roost::observe::set_shutdown_log [
    roost::set_shutdown_log(nullptr, nullptr);  // expect: use roost::observe::set_shutdown_log({log, context}) [

    constexpr shutdown_state state = shutdown_state::running;
    static_cast<void>(roost::is_running(state));  // expect: compare with shutdown_state::running
    static_cast<void>(roost::is_shutting_down(state));  // expect: compare with shutdown_state::shutting_down
    static_cast<void>(roost::is_complete(state));  // expect: compare with shutdown_state::complete
    static_cast<void>(roost::format_age(drain));  // expect: use format_duration() [
}

// Calls that name no namespace choose the new functions without ambiguity, whichever directives there are.
namespace both {
using namespace roost::ext;
using namespace roost::observe;

void call_each(executor_ref where, work& w, std::coroutine_handle<> h, const node& root, const scope& s) {
    static_cast<void>(deadline_after(now(), drain));
    static_cast<void>(cpu_quota());
    static_cast<void>(usable_cpus());
    static_cast<void>(executor_of(h));
    post_or_fall_back(where, w, "work");
    set_fallback_executor(where);
    report_failure("a", "b", site(), nullptr);
    static_cast<void>(roost_category());
    static_cast<void>(wall_now());
    static_cast<void>(dump(root, {}));
    static_cast<void>(dump(s));
    static_cast<void>(tree_to_string(root));
    visit(root, 9, [](const node_description&) {});
    static_cast<void>(to_string(job_event_kind::wait_woken));
    set_job_counting(false);
    static_cast<void>(job_counts_now());
    set_guard_tracking({});
    static_cast<void>(current_guard_tracking());
    set_panic_handler(nullptr);
    set_shutdown_log(shutdown_log_sink());
}
}  // namespace both

static_assert(sizeof(int) == 0, "all former names are used");  // expect: all former names are used

}  // namespace
