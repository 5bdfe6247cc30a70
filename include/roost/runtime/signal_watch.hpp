#pragma once

// Signals as something to await, in any program. Does not need service::run.
//
//   signal_watch signals(SIGINT, SIGHUP);                      from here on neither signal ends the process
//   for (;;) {
//       auto got = co_await select(orders.receive(), signals.receive());
//       ...
//   }
//   const int number = co_await signal_received(SIGINT, SIGTERM);           the first signal, as a task: alone or in race()
//
// A watched signal is counted and has no other effect. A handler that was installed before is still called. So inside
// service::run, the watch and the service both receive the signal. The signal's former effect is restored when its last
// watch is destroyed. Programs started with exec, and children that fork without exec, have the former effect from the
// start.
//
// Every watch receives every signal that arrives after its construction. It keeps up to 64 that are not received yet, and
// drops further ones. Signals that the kernel merges count once. One thread of the process delivers them; it lives as long as
// any watch.

#include <roost/runtime/detail/signal_hub.hpp>
#include <roost/sync/channel.hpp>
#include <roost/task/task.hpp>

#include <concepts>
#include <memory>

namespace roost::inline ROOST_ABI {

class signal_watch {
public:
    // Throws error(refused) for SIGKILL, SIGSTOP, fault signals (such as SIGSEGV), and numbers that are no signal. Throws
    // std::system_error if no thread can be started, and std::bad_alloc.
    template <std::same_as<int>... Number>
    explicit signal_watch(Number... numbers) : signal_watch(detail::signal_numbers(numbers...)) {}
    ~signal_watch();  // requires that no receive() is pending
    signal_watch(const signal_watch&) = delete;
    signal_watch& operator=(const signal_watch&) = delete;

    // As channel::receive() of a channel that is never closed. co_await returns received<int>, the number. Usable in
    // select().
    [[nodiscard]] channel<int>::receive_operation receive() noexcept { return numbers().receive(); }
    [[nodiscard]] received<int> try_receive() noexcept { return numbers().try_receive(); }
    [[nodiscard]] received<int> receive_blocking(time_point deadline = no_deadline) noexcept {
        return numbers().receive_blocking(deadline);
    }

private:
    template <std::same_as<int>... Number>
    friend task<int> signal_received(Number... numbers);
    [[nodiscard]] static task<int> first_signal(std::unique_ptr<signal_watch> signals);

    explicit signal_watch(detail::signal_numbers numbers);
    class target;
    [[nodiscard]] channel<int>& numbers() noexcept;
    std::shared_ptr<target> target_;
};

// Returns a task that ends with the number of the first of these signals. Signals count from the call, not from the first
// await.
template <std::same_as<int>... Number>
[[nodiscard]] task<int> signal_received(Number... numbers) {
    return signal_watch::first_signal(std::make_unique<signal_watch>(numbers...));
}

}  // namespace roost::inline ROOST_ABI
