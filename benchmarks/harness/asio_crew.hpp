// For the Asio peers with two threads: the threads are started once and kept by a work guard, as in a service.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace bench {

// one() is a completion handler for each of `count` children; the last one wakes whoever waits for all of them. It has to outlive the threads,
// because that one may still be leaving it when the waiter goes on.
class asio_join {
public:
    template <class Executor>
    explicit asio_join(Executor const& where) : ended_(where, 1) {}

    void expect(std::uint64_t count) { left_.store(count, std::memory_order_relaxed); }
    [[nodiscard]] auto one() {
        return [this](std::exception_ptr, auto&&...) {
            if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) ended_.try_send(boost::system::error_code{});
        };
    }
    boost::asio::awaitable<void> wait() { co_await ended_.async_receive(boost::asio::use_awaitable); }

private:
    std::atomic<std::uint64_t> left_{0};
    boost::asio::experimental::concurrent_channel<void(boost::system::error_code)> ended_;
};

class asio_crew {
public:
    explicit asio_crew(int threads) : context_(threads), all_(context_.get_executor()), keep_(context_.get_executor()) {
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
    }
    asio_crew(asio_crew const&) = delete;
    asio_crew& operator=(asio_crew const&) = delete;
    ~asio_crew() {
        keep_.reset();
        for (auto& t : threads_) t.join();
    }

    [[nodiscard]] asio_join& join() { return all_; }
    [[nodiscard]] auto get_executor() { return context_.get_executor(); }
    // Returns when the coroutine has ended.
    void run(boost::asio::awaitable<void> body) {
        boost::asio::co_spawn(context_, std::move(body), boost::asio::use_future).get();
    }

private:
    boost::asio::io_context context_;
    asio_join all_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_;
    std::vector<std::thread> threads_;
};

}  // namespace bench
