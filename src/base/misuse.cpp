#include <roost/base/misuse.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/detail/quiet_drops.hpp>
#include <roost/base/detail/report_misuse.hpp>
#include <roost/base/detail/what_runs.hpp>
#include <roost/base/failure_sink.hpp>

#include <exception>

namespace roost::inline ROOST_ABI::detail {

namespace {

struct quiet_depth {
    int value = 0;
};

int& depth_here() noexcept { return thread_value<quiet_depth, quiet_depth>::get().value; }

}  // namespace

void report_misuse(std::string_view what, std::string_view name, site made_at, std::string_view rule) noexcept {
    std::exception_ptr error;
    try {
        error = std::make_exception_ptr(misuse(std::string(rule) + in_what_runs(name)));
    } catch (...) {
        error = std::current_exception();
    }
    report_failure(what, name, made_at, std::move(error));
}

quiet_drops::quiet_drops() noexcept { ++depth_here(); }
quiet_drops::~quiet_drops() { --depth_here(); }

bool drops_are_quiet() noexcept { return depth_here() != 0 || std::uncaught_exceptions() != 0; }

}  // namespace roost::inline ROOST_ABI::detail
