#pragma once

// Signals as something to wait for, in any program: service::run is not needed for it.
//
//   signal_watch signals(SIGINT, SIGHUP);                      from here on neither ends the process
//   for (;;) {
//       auto got = co_await select(orders.receive(), signals.receive());
//       ...
//   }
//   const int number = co_await signal_received(SIGINT, SIGTERM);           the first one, as a task: for race() and alone
//
// While anything watches a signal, that has no effect but to be counted; a handler that was there before is called, too, so that a
// watch inside service::run and the service both know. When the last watch of a signal goes, its former effect is back. Programs
// that are started, and children that fork without exec, have that former effect from the start.
//
// Every watch is told of every signal since it was made, up to 64 that it has not received. What the kernel folds together
// counts once. A thread of the process's own takes them from the handlers; it lives as long as there is a watch.

#include <roost/runtime/detail/signal_hub.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/task.hpp>

#include <concepts>
#include <memory>

namespace roost::inline ROOST_ABI {

class signal_watch {
public:
    // Throws error(refused) for a number that cannot be waited for: SIGKILL, SIGSTOP, those of a broken program (SIGSEGV and the
    // like), and what is no signal. std::system_error without a thread, std::bad_alloc without memory.
    template <std::same_as<int>... Number>
    explicit signal_watch(Number... numbers) : signal_watch(detail::signal_numbers(numbers...)) {}
    ~signal_watch();  // no receive() may be pending
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;

    // As of a channel that is never closed: co_await gives received<int>, the number. A clause of a select.
    [[nodiscard]] channel<int>::receive_operation receive() noexcept { return numbers().receive(); }
    [[nodiscard]] received<int> try_receive() noexcept { return numbers().try_receive(); }
    [[nodiscard]] received<int> receive_blocking(time_point deadline = no_deadline) noexcept {
        return numbers().receive_blocking(deadline);
    }

private:
    explicit signal_watch(detail::signal_numbers numbers);
    class target;
    [[nodiscard]] channel<int>& numbers() noexcept;
    std::shared_ptr<target> target_;
};

namespace detail {
[[nodiscard]] task<int> first_signal(std::unique_ptr<signal_watch> signals);
}

// Ends with the number of the first of these signals that comes after the call, not only after the first await.
template <std::same_as<int>... Number>
[[nodiscard]] task<int> signal_received(Number... numbers) {
    return detail::first_signal(std::make_unique<signal_watch>(numbers...));
}

}  // namespace roost::inline ROOST_ABI
