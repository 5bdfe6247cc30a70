#include <roost/task/launch_started.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/error.hpp>

namespace roost::inline ROOST_ABI::detail {

void throw_not_started(std::string_view name, site where) {
    throw error(errc::promise_dropped, "job '" + std::string(name) + "' (" + where.to_string() +
                                           ") ended before it was ready: it never called started()");
}

void throw_start_refused(std::string_view name, site where) {
    throw error(errc::refused,
                "job '" + std::string(name) + "' (" + where.to_string() + ") was not started: its scope is closed");
}

void refuse_second_start() noexcept { panic("started", {}, site(), "it was called a second time: a child is ready once"); }

}  // namespace roost::inline ROOST_ABI::detail
