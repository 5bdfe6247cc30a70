#pragma once

// The names that moved out of namespace roost in this release, for programs that still use them. Extension points are in
// roost::ext; what observes a program is in roost::observe. Each use warns and names the new spelling. g++ 12 allows no
// attribute on a concept, so only clang warns about those. The next release removes this header. <roost/roost.hpp> does not
// include it.
//
// The functions are templates that overload resolution ranks below the functions they call. So a program with using
// directives for both namespaces, and argument-dependent lookup, choose the new function without ambiguity. A former class
// or concept is ambiguous there: qualify it. wall_text_size and resume_function_of give no warning, so that they are not.
// Nor does a class template whose arguments are deduced.

#include <roost/roost.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#if defined(__clang__)
#define ROOST_FORMER_CONCEPT(name) [[deprecated("use roost::ext::" #name)]]
#else
#define ROOST_FORMER_CONCEPT(name)
#endif

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
concept can_post ROOST_FORMER_CONCEPT(can_post) = ext::can_post<E>;
template <class Promise>
concept has_executor ROOST_FORMER_CONCEPT(has_executor) = ext::has_executor<Promise>;
template <class T>
concept stream ROOST_FORMER_CONCEPT(stream) = ext::stream<T>;
template <class T>
concept byte_reader ROOST_FORMER_CONCEPT(byte_reader) = ext::byte_reader<T>;
template <class T>
concept buffered_reader ROOST_FORMER_CONCEPT(buffered_reader) = ext::buffered_reader<T>;
template <class T>
concept byte_writer ROOST_FORMER_CONCEPT(byte_writer) = ext::byte_writer<T>;

using ext::resume_function_of;
using ext::wall_text_size;
[[deprecated("use roost::seam::store_drain_time")]] inline constexpr duration store_drain_time = seam::store_drain_time;
[[deprecated(
    "the budget of on_exit is 3 s; the constant is not API any more")]] inline constexpr duration default_exit_budget =
    detail::default_exit_budget;

template <class Start, class Span>
    requires requires(Start from, Span d) { ext::deadline_after(from, d); }
[[deprecated("use roost::ext::deadline_after")]] [[nodiscard]] constexpr time_point deadline_after(Start from,
                                                                                                   Span d) noexcept {
    return ext::deadline_after(from, d);
}
template <class = void>
[[deprecated("use roost::ext::cpu_quota")]] [[nodiscard]] std::optional<double> cpu_quota(const std::string& root = "") {
    return ext::cpu_quota(root);
}
template <class = void>
[[deprecated("use roost::ext::usable_cpus")]] [[nodiscard]] unsigned usable_cpus(const std::string& root = "") noexcept {
    return ext::usable_cpus(root);
}
template <class Handle>
    requires requires(Handle h) { ext::executor_of(h); }
[[deprecated("use roost::ext::executor_of")]] [[nodiscard]] executor_ref executor_of(Handle h) noexcept {
    return ext::executor_of(h);
}
template <class... What>
    requires(sizeof...(What) == 1)
[[deprecated("use roost::ext::post_or_fall_back")]] void post_or_fall_back(executor_ref to, ext::work& w,
                                                                           What... what) noexcept {
    ext::post_or_fall_back(to, w, what...);
}
template <class = void>
[[deprecated("use roost::ext::set_fallback_executor")]] executor_ref set_fallback_executor(executor_ref fallback) noexcept {
    return ext::set_fallback_executor(fallback);
}
template <class = void>
[[deprecated("use roost::ext::report_failure")]] void report_failure(std::string_view what, std::string_view name,
                                                                     site made_at, std::exception_ptr error) noexcept {
    ext::report_failure(what, name, made_at, std::move(error));
}
template <class = void>
[[deprecated("use roost::ext::roost_category")]] [[nodiscard]] const std::error_category& roost_category() noexcept {
    return ext::roost_category();
}
template <class = void>
[[deprecated("use roost::ext::wall_now")]] [[nodiscard]] ext::wall_time wall_now() noexcept {
    return ext::wall_now();
}
template <class = void>
[[deprecated("use roost::ext::write_wall_time")]] std::string_view write_wall_time(
    ext::wall_time t, char (&to)[ext::wall_text_size]) noexcept {
    return ext::write_wall_time(t, to);
}

template <class = void>
[[deprecated("use roost::observe::dump")]] [[nodiscard]] std::string dump(const node& root,
                                                                          observe::dump_options how = {}) noexcept {
    return observe::dump(root, how);
}
template <class = void>
[[deprecated("use roost::observe::dump")]] [[nodiscard]] std::string dump(const scope& root,
                                                                          observe::dump_options how = {}) noexcept {
    return observe::dump(root, how);
}
template <class = void>
[[deprecated("use roost::observe::dump")]] [[nodiscard]] std::string dump(const job& root,
                                                                          observe::dump_options how = {}) noexcept {
    return observe::dump(root, how);
}
template <class = void>
[[deprecated("use roost::observe::dump")]] [[nodiscard]] std::string dump(const token& root,
                                                                          observe::dump_options how = {}) noexcept {
    return observe::dump(root, how);
}
template <class = void>
[[deprecated("use roost::observe::tree_to_string")]] [[nodiscard]] std::string tree_to_string(const node& root,
                                                                                              std::size_t budget = 1000) {
    return observe::tree_to_string(root, budget);
}
template <class = void>
[[deprecated("use roost::observe::visit")]] observe::visit_result visit(const node& root, std::size_t budget, void* context,
                                                                        observe::visit_function fn) noexcept {
    return observe::visit(root, budget, context, fn);
}
template <class... Fn>
    requires(sizeof...(Fn) == 1)
[[deprecated("use roost::observe::visit")]] observe::visit_result visit(
    const node& root, std::size_t budget,
    Fn&&... fn) noexcept(noexcept(observe::visit(root, budget, std::forward<Fn>(fn)...))) {
    return observe::visit(root, budget, std::forward<Fn>(fn)...);
}
template <class = void>
[[deprecated("use roost::observe::to_string")]] [[nodiscard]] std::string_view to_string(
    observe::job_event_kind k) noexcept {
    return observe::to_string(k);
}
template <class = void>
[[deprecated("use roost::observe::set_job_counting")]] bool set_job_counting(bool on) noexcept {
    return observe::set_job_counting(on);
}
template <class = void>
[[deprecated("use roost::observe::set_job_counting")]] bool count_jobs(bool on) noexcept {
    return observe::set_job_counting(on);
}
template <class = void>
[[deprecated("use roost::observe::job_counts_now")]] [[nodiscard]] observe::job_counts job_counts_now() noexcept {
    return observe::job_counts_now();
}
template <class = void>
[[deprecated("use roost::observe::set_guard_tracking")]] observe::guard_tracking set_guard_tracking(
    observe::guard_tracking mode) noexcept {
    return observe::set_guard_tracking(mode);
}
template <class = void>
[[deprecated("use roost::observe::current_guard_tracking")]] [[nodiscard]] observe::guard_tracking
current_guard_tracking() noexcept {
    return observe::current_guard_tracking();
}
template <class = void>
[[deprecated("use roost::observe::set_panic_handler")]] observe::panic_handler set_panic_handler(
    observe::panic_handler handler) noexcept {
    return observe::set_panic_handler(handler);
}
template <class = void>
[[deprecated("use roost::observe::set_shutdown_log")]] observe::shutdown_log_sink set_shutdown_log(
    observe::shutdown_log_sink to) noexcept {
    return observe::set_shutdown_log(to);
}
template <class = void>
[[deprecated("use roost::observe::set_shutdown_log({log, context})")]] observe::shutdown_log_sink set_shutdown_log(
    observe::shutdown_log log, void* context) noexcept {
    return observe::set_shutdown_log(observe::shutdown_log_sink(log, context));
}

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

#undef ROOST_FORMER_CONCEPT
