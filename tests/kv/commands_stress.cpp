// Clients on several threads: no increment is lost, no value is torn, and sweeps disturb neither.

#include "commands.hpp"

#include <gtest/gtest.h>

#include "ask.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int rounds = 20'000;

TEST(commands_at_once, requests_of_several_threads_do_not_mix) {
    kv::store data;
    std::atomic<int> torn = 0;
    std::vector<std::thread> threads;
    for (int id = 0; id < 2; ++id) {
        threads.emplace_back([&data, id] {
            kv_testing::client writer(data);
            const std::string value(100, static_cast<char>('a' + id));
            for (int i = 0; i < rounds; ++i) {
                writer.ask_words({"SET", "k", value});
                writer.ask("INCR n");
                writer.ask("SET short " + value + " PX 1");
                writer.now += 1ms;
            }
        });
    }
    threads.emplace_back([&] {
        kv_testing::client reader(data);
        for (int i = 0; i < rounds; ++i) {
            const std::string reply = reader.ask("GET k");
            const bool is_whole = reply == "$-1\r\n" || reply == "$100\r\n" + std::string(100, 'a') + "\r\n" ||
                                  reply == "$100\r\n" + std::string(100, 'b') + "\r\n";
            torn += is_whole ? 0 : 1;
            reader.ask("DEL short other");
        }
    });
    threads.emplace_back([&] {
        kv_testing::client sweeper(data);
        for (int i = 0; i < rounds; ++i) {
            data.sweep(static_cast<std::size_t>(i) % kv::store::shards, sweeper.now + i * 1ms);
        }
    });
    for (auto& t : threads) {
        t.join();
    }
    kv_testing::client last(data);
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(last.ask("GET n"), "$5\r\n40000\r\n");
}

}  // namespace
