#include <roost/asio/detail/pooled_signal.hpp>

#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <thread>

namespace {

using roost::detail::pooled_signal;
namespace net = roost::detail::net;

// Counts emissions, and knows whether it was destroyed.
class counted {
public:
    counted(int& emitted, std::shared_ptr<int> alive) : emitted_(&emitted), alive_(std::move(alive)) {}
    void operator()(net::cancellation_type) const { ++*emitted_; }

private:
    int* emitted_;
    std::shared_ptr<int> alive_;
};
class large : public counted {
public:
    using counted::counted;

    std::array<char, 500> room{};
};

TEST(pooled_signal, ASIO_63_a_signal_knows_nothing_of_the_operation_before) {
    const auto alive = std::make_shared<int>(0);
    int emitted = 0;
    for (int i = 0; i < 10; ++i) {
        {
            pooled_signal first;
            first.open();
            i % 2 == 0 ? static_cast<void>(first.slot().emplace<counted>(emitted, alive))
                       : static_cast<void>(first.slot().emplace<large>(emitted, alive));
            first.emit(net::cancellation_type::terminal);
            EXPECT_EQ(emitted, i + 1);
        }
        EXPECT_EQ(alive.use_count(), 1);
        pooled_signal second;
        second.open();
        second.emit(net::cancellation_type::terminal);
        EXPECT_EQ(emitted, i + 1);
    }
}

TEST(pooled_signal, ASIO_63_signals_move_between_threads) {
    std::array<std::optional<pooled_signal>, 600> all;
    std::thread([&] {
        for (auto& s : all) {
            s.emplace().open();
            s->slot().assign([](net::cancellation_type) {});
        }
        for (std::size_t i = 0; i < all.size() / 2; ++i) {
            all.at(i).reset();
        }
    }).join();
    for (auto& s : all) {
        s.reset();  // more than a thread keeps
    }
    pooled_signal unopened;
}

}  // namespace
