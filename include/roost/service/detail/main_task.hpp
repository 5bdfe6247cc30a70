#pragma once

// The root task of a service, as the service runs it: a task<int> whose number is the exit code.

#include <roost/service/host.hpp>
#include <roost/service/phase.hpp>
#include <roost/service/service_options.hpp>
#include <roost/task/task.hpp>

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::service::detail {

// Makes the root task once the host exists. The task's number is the exit code.
using make_main = std::function<task<int>(host&)>;
int run_service(make_main root, bool ready_at_start, const options& o, std::source_location from);

template <class T>
concept main_result = std::is_void_v<T> || std::convertible_to<T, int>;

template <class T>
task<int> as_main(task<T> t) {
    if constexpr (std::is_void_v<T>) {
        co_await std::move(t);
        co_return exit_code::clean;
    } else {
        co_return co_await std::move(t);
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
