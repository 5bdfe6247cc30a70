// Scenario 13 for Asio: the Nth allocation fails and the Nth call of user code throws, in every public function of the layer that
// can, and in Asio on their behalf. What Asio throws out of its run() comes out of run(io, task), and the context takes the task
// with it. Afterwards the same works, and nothing has leaked.
//
// The contexts are promised single-threaded, so that operations need no strand: in Boost 1.81 a strand whose second allocation
// fails destroys what it has not initialised.

#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/this_task.hpp>

#include "../gauntlet/fault_rows.hpp"
#include "../gauntlet/quiet.hpp"
#include "all_of_asio.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <string>

#include <dlfcn.h>

// Asio's own memory comes from aligned_alloc, which this program replaces; sanitizers do so themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROOST_TEST_NO_INTERPOSING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ROOST_TEST_NO_INTERPOSING 1
#endif
#endif

#if !defined(ROOST_TEST_NO_INTERPOSING)

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    using allocate = void* (*)(std::size_t, std::size_t);
    static const auto real = reinterpret_cast<allocate>(dlsym(RTLD_NEXT, "aligned_alloc"));
    if (gauntlet::allocations_left >= 0 && gauntlet::allocations_left-- == 0) {
        return nullptr;
    }
    return real(alignment, size);
}

#endif

namespace {

using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using namespace std::chrono_literals;
using gauntlet::leaf;
using gauntlet::user;
namespace net = roost::detail::net;
using local_socket = net::local::stream_protocol::socket;

const std::string long_name(100, 'n');

// Made without faults: since 1.33, Asio leaks the part of a context that it has made when the next has no memory.
class unharmed_context : public net::io_context {
public:
    unharmed_context() : unharmed_context(gauntlet::calm()) {}

private:
    explicit unharmed_context(const gauntlet::calm&) {}
};

// Without faults: connect_pair leaks its descriptors when a socket has no memory for them.
void connect(local_socket& a, local_socket& b) {
    const gauntlet::calm unharmed;
    net::local::connect_pair(a, b);
}

task<> echoes(net::io_context& io) {
    local_socket a(io);
    local_socket b(io);
    connect(a, b);
    user();
    std::string text(100, ' ');
    std::size_t n = co_await net::async_write(a, net::buffer(long_name), use_task);
    EXPECT_EQ(n, long_name.size());
    n = co_await net::async_read(b, net::buffer(text), net::bind_executor(io.get_executor(), use_task));
    EXPECT_EQ(n, long_name.size());
    EXPECT_EQ(text, long_name);
    user();
}
// An operation of the user's own, with each kind of token.
task<> begins(net::io_context& io) {
    using signature = void(detail::error_code, int);
    const auto initiation = [&io](auto handler) {
        user();
        net::post(io, [h = std::move(handler)]() mutable { std::move(h)(detail::error_code(), 7); });
    };
    int got = co_await net::async_result<use_task_t, signature>::initiate(initiation, use_task);
    EXPECT_EQ(got, 7);
    auto bound = net::bind_executor(io.get_executor(), use_task);
    got = co_await net::async_result<decltype(bound), signature>::initiate(initiation, bound);
    EXPECT_EQ(got, 7);
}
void operations() {
    unharmed_context io;
    io_executor::of(io).set_single_threaded();
    run(io, echoes(io));
    io.restart();
    run(io, begins(io));
}

// Nothing comes, so that the deadline has to cancel the operation.
task<> waits_in_vain(net::io_context& io) {
    local_socket a(io);
    local_socket b(io);
    connect(a, b);
    char c = 0;
    auto ended = co_await move_on_after(1ms, b.async_read_some(net::buffer(&c, 1), use_task));
    EXPECT_FALSE(ended);
    auto ended_too = co_await move_on_at(now(), b.async_read_some(net::buffer(&c, 1), use_task));
    EXPECT_FALSE(ended_too);
    net::steady_timer soon(io, 0ms);
    co_await fail_after(1h, soon.async_wait(use_task));
    soon.expires_after(0ms);
    co_await fail_at(deadline_after(now(), 1h), soon.async_wait(use_task));
    user();
}
void deadlines() {
    unharmed_context io;
    io_executor::of(io).set_single_threaded();
    run(io, waits_in_vain(io));
}

task<> sleepless() { static_cast<void>(co_await leaf(1)); }

// The handler is called once, whatever happens after async_run has returned.
void handlers() {
    int called = 0;
    std::exception_ptr failed;
    bool begun = false;
    {
        unharmed_context io;
        try {
            async_run(io, long_name, leaf(1), [&](std::exception_ptr e, int) {
                ++called;
                failed = e;
            });
            begun = true;
            io.run();
        } catch (...) {
            failed = std::current_exception();
        }
    }
    EXPECT_EQ(called, begun ? 1 : 0);
    if (failed) {
        std::rethrow_exception(failed);
    }
}
// The same for a task that ends on another executor, from where the handler has to be posted, and for a job that is waited for.
void handlers_elsewhere() {
    int called = 0;
    std::exception_ptr failed;
    int begun = 0;
    {
        rig::manual where;
        unharmed_context io;
        owned_scope root(where, scope_options("root").report_failures());
        const auto handler = [&](std::exception_ptr e) {
            ++called;
            failed = e ? e : failed;
        };
        try {
            async_run(executor_ref(where), long_name, sleepless(), net::bind_executor(io.get_executor(), handler));
            ++begun;
            const job j = root.launch("job", sleepless());
            async_run(executor_ref(where), j, net::bind_executor(io.get_executor(), handler));
            ++begun;
        } catch (...) {
            failed = std::current_exception();
        }
        root.request_close();
        where.run();
        try {
            io.run();
        } catch (...) {
            failed = std::current_exception();
        }
    }
    EXPECT_EQ(called, begun);
    if (failed) {
        std::rethrow_exception(failed);
    }
}
task<> sleeps() {
    user();
    co_await sleep_for(1ms);
    user();
}
void executors() {
    unharmed_context io;
    const io_executor& first = io_executor::of(io);
    run(io, sleeps());
    EXPECT_EQ(&io_executor::of(io), &first);
}

const gauntlet::fault_row table[] = {
    // also io_executor::io_executor
    {"io_executor::of", executors},
    {"boost::asio::async_result::initiate", operations},
    // also fail_at, move_on_after, move_on_at
    {"fail_after", deadlines},
    {"async_run", handlers},
    {"async_run", handlers_elsewhere},
};

TEST(asio_faults, GAUNTLET_13_the_nth_allocation_and_the_nth_call_fail_between_roost_and_asio) {
    const gauntlet::quiet q("scenario 13");
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    const long faults = gauntlet::try_rows(table);
    set_failure_sink(before);
    q.say("%zu rows of Asio, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
}

task<> begins_without_memory(net::steady_timer& t, bool& failed) {
    co_await t.async_wait(use_task);  // makes what there is once per context
    gauntlet::allocations_left = 0;
    try {
        co_await t.async_wait(use_task);
    } catch (const std::bad_alloc&) {
        failed = true;
    }
    const bool untouched = gauntlet::allocations_left >= 0;
    gauntlet::allocations_left = -1;
    EXPECT_FALSE(untouched);
    co_await t.async_wait(use_task);
}

TEST(asio_faults, GAUNTLET_13_ASIO_19_an_operation_without_memory_for_its_strand_does_not_begin) {
    net::io_context io;
    net::steady_timer t(io, 0ms);
    bool failed = false;
    run(io, begins_without_memory(t, failed));
    EXPECT_TRUE(failed);
}

}  // namespace
