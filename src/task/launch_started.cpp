#include <roost/task/launch_started.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/error.hpp>
#include <roost/task/failure_sink.hpp>

namespace roost::inline ROOST_ABI::detail {

void throw_not_started(std::string_view name, site where) {
    throw error(errc::promise_dropped, "job '" + std::string(name) + "' (" + where.to_string() +
                                           ") ended before it was ready: it never called started()");
}

void throw_start_refused(std::string_view name, site where) {
    throw error(errc::refused,
                "job '" + std::string(name) + "' (" + where.to_string() + ") was not started: its scope is closed");
}

void report_not_started(const std::exception_ptr& error, const std::vector<std::exception_ptr>& others) noexcept {
    report_failure("a child", "that was not ready", site(), error);
    for (const std::exception_ptr& other : others) {
        report_failure("a child", "that was not ready", site(), other);
    }
}

void refuse_second_start() noexcept { panic("started", {}, site(), "it was called a second time: a child is ready once"); }

}  // namespace roost::inline ROOST_ABI::detail
