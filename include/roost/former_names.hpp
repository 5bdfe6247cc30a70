#pragma once

// The names that moved out of namespace roost in this release, for programs that still use them. Extension points are in
// roost::ext; what observes a program is in roost::observe. A use of a type warns and names the new spelling.
// Using-declarations and concepts cannot warn. The next release removes this header. <roost/roost.hpp> does not include it.

#include <roost/roost.hpp>

namespace roost::inline ROOST_ABI {

using work [[deprecated("use roost::ext::work")]] = ext::work;
using work_list [[deprecated("use roost::ext::work_list")]] = ext::work_list;
using timer [[deprecated("use roost::ext::timer")]] = ext::timer;
using timer_service [[deprecated("use roost::ext::timer_service")]] = ext::timer_service;
using blocking_service [[deprecated("use roost::ext::blocking_service")]] = ext::blocking_service;
using blocking_work [[deprecated("use roost::ext::blocking_work")]] = ext::blocking_work;
using resume_function [[deprecated("use roost::ext::resume_function")]] = ext::resume_function;
using claim [[deprecated("use roost::ext::claim")]] = ext::claim;
using waiter [[deprecated("use roost::ext::waiter")]] = ext::waiter;
using resume_target [[deprecated("use roost::ext::resume_target")]] = ext::resume_target;
using wait_target [[deprecated("use roost::ext::wait_target")]] = ext::wait_target;
using size_hint [[deprecated("use roost::ext::size_hint")]] = ext::size_hint;
using wall_time [[deprecated("use roost::ext::wall_time")]] = ext::wall_time;
using stop_token_link [[deprecated("use roost::ext::stop_token_link")]] = ext::stop_token_link;
using linked_stop_source [[deprecated("use roost::ext::linked_stop_source")]] = ext::linked_stop_source;
using external_resource [[deprecated("use roost::ext::external_resource")]] = ext::external_resource;
using lease [[deprecated("use roost::ext::lease")]] = ext::lease;
using inline_executor [[deprecated("use roost::ext::inline_executor")]] = ext::inline_executor;

using dump_options [[deprecated("use roost::observe::dump_options")]] = observe::dump_options;
using observation [[deprecated("use roost::observe::observation")]] = observe::observation;
using job_counts [[deprecated("use roost::observe::job_counts")]] = observe::job_counts;
using job_event [[deprecated("use roost::observe::job_event")]] = observe::job_event;
using job_event_kind [[deprecated("use roost::observe::job_event_kind")]] = observe::job_event_kind;
using job_observer [[deprecated("use roost::observe::job_observer")]] = observe::job_observer;
using visit_function [[deprecated("use roost::observe::visit_function")]] = observe::visit_function;
using visit_result [[deprecated("use roost::observe::visit_result")]] = observe::visit_result;
using node_description [[deprecated("use roost::observe::node_description")]] = observe::node_description;
using guard_tracking [[deprecated("use roost::observe::guard_tracking")]] = observe::guard_tracking;
using shutdown_event [[deprecated("use roost::observe::shutdown_event")]] = observe::shutdown_event;
using shutdown_log [[deprecated("use roost::observe::shutdown_log")]] = observe::shutdown_log;
using shutdown_log_sink [[deprecated("use roost::observe::shutdown_log_sink")]] = observe::shutdown_log_sink;
using shutdown_record [[deprecated("use roost::observe::shutdown_record")]] = observe::shutdown_record;
using log_severity [[deprecated("use roost::observe::log_severity")]] = observe::log_severity;
using panic_handler [[deprecated("use roost::observe::panic_handler")]] = observe::panic_handler;
using lane_entry [[deprecated("use roost::observe::lane_entry")]] = observe::lane_entry;
using report_entry [[deprecated("use roost::observe::report_entry")]] = observe::report_entry;
using pool_holder [[deprecated("use roost::observe::pool_holder")]] = observe::pool_holder;
using overrun [[deprecated("use roost::observe::overrun")]] = observe::overrun;
using supervised_counts [[deprecated("use roost::observe::supervised_counts")]] = observe::supervised_counts;

template <ext::can_post E>
using executor_adapter [[deprecated("use roost::ext::executor_adapter")]] = ext::executor_adapter<E>;
template <class Fn>
using inline_callback [[deprecated("use roost::ext::inline_callback")]] = ext::inline_callback<Fn>;
template <class T>
using interrupted_or [[deprecated("use roost::ext::interrupted_or")]] = ext::interrupted_or<T>;
template <class E>
concept can_post = ext::can_post<E>;
template <class Promise>
concept has_executor = ext::has_executor<Promise>;
template <class T>
concept stream = ext::stream<T>;
template <class T>
concept byte_reader = ext::byte_reader<T>;
template <class T>
concept buffered_reader = ext::buffered_reader<T>;
template <class T>
concept byte_writer = ext::byte_writer<T>;

using ext::cpu_quota;
using ext::executor_of;
using ext::post_or_fall_back;
using ext::report_failure;
using ext::resume_function_of;
using ext::roost_category;
using ext::set_fallback_executor;
using ext::usable_cpus;
using ext::wall_now;
using ext::wall_text_size;
using ext::write_wall_time;
using observe::count_jobs;
using observe::current_guard_tracking;
using observe::dump;
using observe::job_counts_now;
using observe::set_guard_tracking;
using observe::set_job_counting;
using observe::set_panic_handler;
using observe::set_shutdown_log;
using observe::to_string;
using observe::tree_to_string;
using observe::visit;

using create_backoff [[deprecated("use roost::pool_options::create_backoff")]] = pool_options::create_backoff;
using pool_operation [[deprecated("use roost::pool_error::step")]] = pool_error::step;
using pool_status [[deprecated("use roost::wait_status")]] = wait_status;
using overrun_function [[deprecated("use roost::runtime_options::overrun_function")]] = runtime_options::overrun_function;

[[deprecated("compare with shutdown_state::running")]] [[nodiscard]] constexpr bool is_running(shutdown_state s) noexcept {
    return s == shutdown_state::running;
}
[[deprecated("compare with shutdown_state::shutting_down")]] [[nodiscard]] constexpr bool is_shutting_down(
    shutdown_state s) noexcept {
    return s == shutdown_state::shutting_down;
}
[[deprecated("compare with shutdown_state::complete")]] [[nodiscard]] constexpr bool is_complete(shutdown_state s) noexcept {
    return s == shutdown_state::complete;
}

}  // namespace roost::inline ROOST_ABI
