#pragma once

// service::run: everything around a long-running program.
//
//   task<> serve(service::host& h) {
//       auto& web = h.add("web", service::component_options().intake());
//       web.launch("accept", accept_loop(h, web.shutdown()));
//       h.set_ready();
//       co_await h.stopping();
//   }
//   int main() { return service::run(serve); }
//
// The first SIGTERM or SIGINT begins shutdown (see phase.hpp), the second cancels. The third prints the tree, and the signal
// kills the process. The hard deadline does the same. If no signal was received, the process exits with the code of the
// first failure, or with work_cancelled. SIGUSR1 prints the tree, SIGHUP runs the reload hook. Signals and phases are
// handled on a thread of their own, so they work when every worker is stuck. The ledger is the last line that is logged. A
// process runs one service at a time.

#include <roost/service/detail/main_task.hpp>
#include <roost/service/host.hpp>
#include <roost/service/service_options.hpp>
#include <roost/service/signals.hpp>

#include <concepts>
#include <functional>
#include <source_location>
#include <type_traits>

namespace roost::inline ROOST_ABI::service {

// Runs the root task that fn(host&) returns. The service is ready after h.set_ready(). Blocks. Returns the exit code.
template <class Fn>
    requires std::invocable<Fn&, host&> && roost::detail::is_task<std::invoke_result_t<Fn&, host&>> &&
             detail::main_result<typename std::invoke_result_t<Fn&, host&>::value_type>
int run(Fn fn, const options& o = options(), std::source_location from = std::source_location::current()) {
    return detail::run_service([&fn](host& h) { return detail::as_main(std::invoke(fn, h)); }, false, o, from);
}

// Runs a root task that needs no host. The service is ready at once. Blocks. Returns the exit code.
template <detail::main_result T>
int run(task<T> root, const options& o = options(), std::source_location from = std::source_location::current()) {
    return detail::run_service([&root](host&) { return detail::as_main(std::move(root)); }, true, o, from);
}

}  // namespace roost::inline ROOST_ABI::service
