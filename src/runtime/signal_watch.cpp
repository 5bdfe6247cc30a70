#include <roost/runtime/signal_watch.hpp>

#include <utility>

namespace roost::inline ROOST_ABI {

class signal_watch::target final : public detail::signal_target {
public:
    explicit target(detail::signal_numbers which) : signal_target(which) {}
    // When nothing receives, the newest are lost, as the kernel loses what is pending already.
    void arrived(int number) noexcept override { static_cast<void>(numbers.try_send(number).status()); }

    channel<int> numbers{64, "signals"};
};

signal_watch::signal_watch(detail::signal_numbers numbers) : target_(std::make_shared<target>(numbers)) {
    detail::signal_hub::add(target_);
}

signal_watch::~signal_watch() { detail::signal_hub::remove(*target_); }

channel<int>& signal_watch::numbers() noexcept { return target_->numbers; }

task<int> signal_watch::first_signal(std::unique_ptr<signal_watch> signals) {
    received<int> first = co_await signals->receive();
    co_return *first;
}

}  // namespace roost::inline ROOST_ABI
