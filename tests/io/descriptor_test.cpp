#include "support.hpp"

#include <roost/flow/select.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/sync/channel.hpp>
#include <roost/sync/interruptible.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/with_scope.hpp>
#include <roost/testing/manual_executor.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <csignal>
#include <fstream>
#include <future>

using namespace roost;
using namespace io_tests;

namespace {

int counter() { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
void add(const io::descriptor& to, std::uint64_t n = 1) {
    EXPECT_EQ(::write(to.native_handle(), &n, sizeof n), ssize_t(sizeof n));
}
std::uint64_t take(const io::descriptor& from) {
    std::uint64_t n = 0;
    return ::read(from.native_handle(), &n, sizeof n) == ssize_t(sizeof n) ? n : 0;
}

// --- what the kernel has ------------------------------------------------------------------------------------------------------

task<> add_later(io::descriptor& to) {
    co_await sleep_for(2ms);
    add(to, 7);
}
task<> wait_for_a_counter() {
    io::descriptor events(::eventfd(0, EFD_CLOEXEC));
    EXPECT_NE(::fcntl(events.native_handle(), F_GETFL) & O_NONBLOCK, 0) << "it is made so that it does not block";
    co_await with_scope(
        [](scope& s, io::descriptor& on) -> task<> {
            s.launch("adder", add_later(on));
            expect_true(co_await on.readable());
            EXPECT_EQ(take(on), 7U);
            expect_true(co_await on.writable());
            expect_false(co_await move_on_after(3ms, on.readable()), "it was taken");
        },
        std::ref(events));
}
TEST(io_descriptor, IO_54_an_eventfd) { on_each_host_run(&wait_for_a_counter); }

task<> wait_for_a_signal(const sigset_t& mine) {
    io::descriptor signals(::signalfd(-1, &mine, SFD_CLOEXEC));
    expect_false(co_await move_on_after(2ms, signals.readable()));
    ::kill(::getpid(), SIGUSR2);
    expect_true(co_await signals.readable());
    signalfd_siginfo what{};
    EXPECT_EQ(::read(signals.native_handle(), &what, sizeof what), ssize_t(sizeof what));
    EXPECT_EQ(what.ssi_signo, std::uint32_t(SIGUSR2));
}
TEST(io_descriptor, IO_54_a_signalfd) {
    sigset_t mine{};
    sigset_t before{};
    ::sigemptyset(&mine);
    ::sigaddset(&mine, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &mine, &before);  // the threads of the executors inherit it
    on_each_host([&](host& where) { where.run(wait_for_a_signal(mine)); });
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

task<> watch_a_folder(const std::string& folder, const std::string& file) {
    io::descriptor changes(::inotify_init1(IN_CLOEXEC));
    EXPECT_GE(::inotify_add_watch(changes.native_handle(), folder.c_str(), IN_CREATE), 0);
    expect_false(co_await move_on_after(2ms, changes.readable()));
    std::ofstream(file) << "new";
    expect_true(co_await changes.readable());
    alignas(inotify_event) std::array<char, 4096> data{};
    EXPECT_GT(::read(changes.native_handle(), data.data(), data.size()), 0);
    ::unlink(file.c_str());
}
TEST(io_descriptor, IO_54_an_inotify_descriptor) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        where.run(watch_a_folder(folder.file("."), folder.file("data")));
    });
}

task<> wait_for_a_file(int fd) {
    io::descriptor file(fd);
    const auto how = co_await file.readable();
    EXPECT_EQ(how.code(), std::errc::operation_not_permitted) << how.code().message();
}
TEST(io_descriptor, IO_51_an_ordinary_file_cannot_be_waited_for) {
    on_each_host([](host& where) {
        const temporary_directory folder;
        std::ofstream(folder.file("data")) << "text";
        where.run(wait_for_a_file(::open(folder.file("data").c_str(), O_RDONLY | O_CLOEXEC)));
    });
}

// --- many waiters ---------------------------------------------------------------------------------------------------------------

task<> wait_and_count(io::descriptor& on, int& woken) {
    expect_true(co_await on.readable());
    ++woken;
}
task<> wake_all() {
    io::descriptor events(counter());
    int first = 0;
    int second = 0;
    int third = 0;
    co_await with_scope(
        [](scope& s, io::descriptor& on, int& a, int& b, int& c) -> task<> {
            s.launch("a", wait_and_count(on, a));
            s.launch("b", wait_and_count(on, b));
            s.launch("c", wait_and_count(on, c));
            co_await sleep_for(2ms);
            add(on);
        },
        std::ref(events), std::ref(first), std::ref(second), std::ref(third));
    EXPECT_EQ(first + second + third, 3) << "each is woken: nothing was taken";
    EXPECT_EQ(take(events), 1U);
}
TEST(io_descriptor, IO_51_all_waiters_are_woken) { on_each_host_run(&wake_all); }

// Another library reads and writes it without telling.
task<> beside_another_user() {
    io::descriptor events(counter());
    for (int i = 0; i < 50; ++i) {
        add(events);
        expect_true(co_await events.readable());
        EXPECT_EQ(take(events), 1U);
        if (i % 2 == 0) {
            add(events);
            EXPECT_EQ(take(events), 1U);  // its event is still reported
        }
        expect_false(co_await move_on_after(std::chrono::microseconds(200), events.readable()));
    }
}
TEST(io_descriptor, IO_51_the_kernel_is_asked) { on_each_host_run(&beside_another_user); }

task<> wait_for_room() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    io::descriptor reading(ends[0]);
    io::descriptor writing(ends[1]);
    expect_true(co_await writing.writable());
    const std::string text = pattern(100'000);
    while (::write(writing.native_handle(), text.data(), text.size()) > 0) {}
    expect_false(co_await move_on_after(2ms, writing.writable()));
    co_await with_scope(
        [](scope& s, io::descriptor& from, io::descriptor& to) -> task<> {
            s.launch("reader", [](io::descriptor& in) -> task<> {
                std::string rest(100'000, '\0');
                co_await sleep_for(1ms);
                EXPECT_GT(::read(in.native_handle(), rest.data(), rest.size()), 0);
            }(from));
            expect_true(co_await to.writable());
        },
        std::ref(reading), std::ref(writing));
    reading.close();
    expect_true(co_await writing.writable(), "an error is worth a call");
}
TEST(io_descriptor, IO_51_room_to_write) { on_each_host_run(&wait_for_room); }

// --- select ----------------------------------------------------------------------------------------------------------------------

task<> send_numbers(channel<int>& to) {
    for (int i = 0; i < 3; ++i) {
        co_await sleep_for(1ms);
        static_cast<void>(co_await to.send(i));
    }
}
task<> select_among_both() {
    io::descriptor events(counter());
    channel<int> numbers(1);
    int received = 0;
    int readable = 0;
    co_await with_scope(
        [](scope& s, io::descriptor& on, channel<int>& from, int& values, int& wakes) -> task<> {
            s.launch("sender", send_numbers(from));
            s.launch("adder", add_later(on));
            while (values < 3 || wakes < 1) {
                auto got = co_await select(from.receive(), on.readable(), sleep_for(10s));
                if (got.index() == 0) {
                    ++values;
                } else if (got.index() == 1) {
                    EXPECT_TRUE(got.get<1>());
                    EXPECT_EQ(take(on), 7U);
                    ++wakes;
                } else {
                    ADD_FAILURE() << "neither came";
                    break;
                }
            }
        },
        std::ref(events), std::ref(numbers), std::ref(received), std::ref(readable));
    EXPECT_EQ(received, 3);
    EXPECT_EQ(readable, 1);
}
TEST(io_descriptor, IO_52_select_beside_a_channel) { on_each_host_run(&select_among_both); }

task<> select_what_is_ready() {
    io::descriptor events(counter());
    channel<int> numbers(1);
    add(events);
    auto ready = co_await select(numbers.receive(), events.readable(), events.writable());
    EXPECT_EQ(ready.index(), 1U) << "the leftmost that can happen";
    static_cast<void>(take(events));
    auto second = co_await select(events.readable(), events.writable());
    EXPECT_EQ(second.index(), 1U);
    events.close();
    auto closed = co_await select(numbers.receive(), events.readable());
    EXPECT_EQ(closed.index(), 1U);
    EXPECT_EQ(closed.get<1>().code(), io::errc::closed);
}
TEST(io_descriptor, IO_52_select_takes_what_is_ready) { on_each_host_run(&select_what_is_ready); }

task<> select_and_close() {
    io::descriptor events(counter());
    channel<int> numbers(1);
    co_await with_scope(
        [](scope& s, io::descriptor& on, channel<int>& from) -> task<> {
            s.launch("closer", [](io::descriptor& it) -> task<> {
                co_await sleep_for(2ms);
                it.close();
            }(on));
            auto got = co_await select(from.receive(), on.readable());
            EXPECT_EQ(got.index(), 1U);
            EXPECT_EQ(got.get<1>().code(), io::errc::closed);
        },
        std::ref(events), std::ref(numbers));
}
TEST(io_descriptor, IO_52_close_happens_to_a_select) { on_each_host_run(&select_and_close); }

// --- closing ---------------------------------------------------------------------------------------------------------------------

task<> expect_closed(io::descriptor& on, bool reads) {
    const auto how = reads ? co_await on.readable() : co_await on.writable();
    EXPECT_EQ(how.code(), io::errc::closed);
}
task<> close_beside_waits() {
    io::descriptor events(counter());
    add(events, ~std::uint64_t(0) - 1);  // it cannot be written
    static_cast<void>(co_await events.readable());
    const int fd = events.native_handle();
    co_await with_scope(
        [](scope& s, io::descriptor& on) -> task<> {
            s.launch("writer", expect_closed(on, false));
            co_await sleep_for(2ms);
            on.close();
        },
        std::ref(events));
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
    EXPECT_FALSE(events.is_open());
    EXPECT_EQ(events.native_handle(), -1);
    co_await expect_closed(events, true);
    EXPECT_FALSE(events.readable_blocking(1s));
    io::descriptor never;
    co_await expect_closed(never, true);
    EXPECT_FALSE(never.writable_blocking(1s));
    never.close();
}
TEST(io_descriptor, IO_13_close_wakes_the_waits) { on_each_host_run(&close_beside_waits); }

TEST(io_descriptor, IO_51_a_bad_descriptor_throws) {
    EXPECT_THROW(io::descriptor(-1), std::system_error);
    EXPECT_THROW(io::descriptor(1'000'000), std::system_error);
}

TEST(io_descriptor, IO_30_a_thread_waits) {
    io::descriptor events(counter());
    EXPECT_FALSE(events.readable_blocking(2ms));
    EXPECT_TRUE(events.writable_blocking());
    std::thread adder([&events] { add(events); });
    EXPECT_TRUE(events.readable_blocking(hang_limit));
    adder.join();
    static_cast<void>(take(events));
    std::thread waiting([&events] { EXPECT_FALSE(events.readable_blocking(hang_limit)); });
    std::this_thread::sleep_for(2ms);
    events.close();
    waiting.join();
}

task<> readable_in_vain(io::descriptor& on, io::result<>& got) { got = co_await on.readable(); }
TEST(io_descriptor, IO_31_an_executor_without_a_driver_is_an_error) {
    io::descriptor events(counter());
    testing::manual_executor hand;
    owned_scope root(hand, scope_options("root").report_failures());
    io::result<> got(std::in_place);
    root.launch("reader", readable_in_vain(events, got));
    hand.run_all();
    EXPECT_EQ(got.code(), std::errc::operation_not_supported);
    root.request_close();
    hand.run_all();
}

foreign wait_until_stop(executor_ref, io::descriptor& on, std::stop_token stop, std::promise<wait_status>& done) {
    const auto how = co_await with_stop(on.readable(), stop);
    done.set_value(how.status());
}
TEST(io_descriptor, IO_19_stop_ends_a_wait) {
    on_each_host([](host& where) {
        io::descriptor events(counter());
        std::stop_source stop;
        std::promise<wait_status> done;
        wait_until_stop(where.where(), events, stop.get_token(), done);
        stop.request_stop();
        EXPECT_EQ(done.get_future().get(), wait_status::cancelled);
    });
}

// --- borrowing ------------------------------------------------------------------------------------------------------------------

task<> borrow_again_and_again(int* last) {
    for (int i = 0; i < 20; ++i) {
        const int fd = counter();  // as a library opens and closes its sockets: the number is the same each time
        {
            io::descriptor events = io::descriptor::borrow(fd);
            EXPECT_EQ(events.native_handle(), fd);
            expect_false(co_await move_on_after(std::chrono::microseconds(100), events.readable()));
            add(events);
            expect_true(co_await events.readable());
        }
        EXPECT_NE(::fcntl(fd, F_GETFD), -1) << "it is still open";
        ::close(fd);
        EXPECT_TRUE(*last == -1 || *last == fd);
        *last = fd;
    }
}
TEST(io_descriptor, IO_53_a_number_that_is_used_again) {
    on_each_host([](host& where) {
        int last = -1;
        where.run(borrow_again_and_again(&last));
    });
}

task<> borrow_beside_a_stream() {
    tcp_pair both = connected();
    io::descriptor watching = io::descriptor::borrow(::dup(both.server.native_handle()));
    expect_false(co_await move_on_after(2ms, watching.readable()));
    co_await both.client.write_all("abc").or_throw();
    expect_true(co_await watching.readable());
    std::array<char, 8> data{};
    expect_equal(co_await both.server.read_some(data).or_throw(), 3U);
    const int fd = watching.native_handle();
    watching.close();
    ::close(fd);
}
TEST(io_descriptor, IO_53_a_borrowed_copy_waits_beside_the_stream) { on_each_host_run(&borrow_beside_a_stream); }

}  // namespace
