// interrupt<T> and guarded<T>: streams, readers, writers.

#include <roost/shutdown/shutdown.hpp>
#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "../sync/coroutines.hpp"

namespace {

using roost::shutdown;
using roost::ext::size_hint;
using sync_testing::hand_executor;
using sync_testing::hosted;

class counter {  // a stream that never waits
public:
    std::optional<int> next() { return at_ < 3 ? std::optional<int>(at_++) : std::nullopt; }
    [[nodiscard]] roost::ext::size_hint size_hint() const { return {static_cast<std::size_t>(3 - at_), 3}; }

private:
    int at_ = 0;
};

TEST(stream, SHUT_16_19_ends_with_stop) {
    const shutdown s;
    auto i = s.interrupt(counter());
    EXPECT_EQ(i.next(), 0);
    s.shut_down();
    EXPECT_EQ(i.next(), std::nullopt);
    EXPECT_EQ(i.next(), std::nullopt);
    EXPECT_EQ(i->next(), 1);  // the stream itself was not touched
}

TEST(stream, SHUT_18_size_hints) {
    const shutdown s;
    EXPECT_EQ(s.interrupt(counter()).size_hint(), (size_hint{0, 3}));
    EXPECT_EQ(s.guarded(counter()).size_hint(), (size_hint{3, 3}));
    EXPECT_EQ(s.interrupt(std::vector<int>(5)).size_hint(), (size_hint{0, 5}));
    EXPECT_EQ(s.guarded(std::vector<int>(5)).size(), 5U);
}

// --- blocking bytes --------------------------------------------------------------------------------------------------------

class memory_file {
public:
    std::size_t read_some(std::span<std::byte> buffer) {
        const std::size_t n = std::min(buffer.size(), content.size() - read_at);
        std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(read_at), n, buffer.begin());
        read_at += n;
        return n;
    }
    std::span<const std::byte> fill_buffer() { return std::span(content).subspan(read_at); }
    void consume(std::size_t n) { read_at += n; }
    std::size_t write_some(std::span<const std::byte> bytes) {
        content.insert(content.end(), bytes.begin(), bytes.end());
        return bytes.size();
    }
    void flush() { ++flushed; }
    void close() { closed = true; }

    std::vector<std::byte> content = std::vector<std::byte>(8);
    std::size_t read_at = 0;
    int flushed = 0;
    bool closed = false;
};

TEST(bytes, SHUT_17_reads_and_writes_end_flush_and_close_do_not) {
    const shutdown s;
    auto f = s.interrupt(memory_file());
    std::byte buffer[4];
    EXPECT_EQ(f.read_some(buffer), 4U);
    EXPECT_EQ(f.write_some(buffer), 4U);
    EXPECT_EQ(f.fill_buffer().size(), 8U);
    f.consume(2);
    s.shut_down();
    EXPECT_EQ(f.read_some(buffer), 0U);
    EXPECT_EQ(f.write_some(buffer), 0U);
    EXPECT_TRUE(f.fill_buffer().empty());
    f.flush();
    f.close();
    EXPECT_EQ(f->flushed, 1);
    EXPECT_TRUE(f->closed);
    EXPECT_EQ(f->content.size(), 12U);
}

TEST(bytes, SHUT_14_guarded_passes_everything_through) {
    const shutdown s;
    auto f = s.guarded(memory_file());
    s.shut_down();
    std::byte buffer[4];
    EXPECT_EQ(f.read_some(buffer), 4U);
    EXPECT_EQ(f.write_some(buffer), 4U);
    EXPECT_EQ(f.fill_buffer().size(), 8U);
    f.consume(1);
    f.flush();
    f.close();
    EXPECT_TRUE(f->closed);
}

// Buffered reads end with stop, and an idle child delays no completion.
TEST(regression, SWB_8_buffered_reads_are_interrupted_and_an_idle_child_delays_nothing) {
    const shutdown s;
    const shutdown idle = s.child();
    auto f = s.interrupt(memory_file());
    static_assert(roost::ext::buffered_reader<decltype(f)>, "an interrupted buffered reader is one");
    EXPECT_EQ(f.fill_buffer().size(), 8U);
    f.consume(3);
    EXPECT_EQ(f.fill_buffer().size(), 5U);
    EXPECT_TRUE(s.shut_down().is_resolved());
    EXPECT_TRUE(f.fill_buffer().empty());
    EXPECT_EQ(f->fill_buffer().size(), 5U) << "nothing was taken";
}

// --- awaited -----------------------------------------------------------------------------------------------------------------

// Waits for an event, and can be withdrawn.
template <class Result>
class after {
public:
    after(roost::event& ready, Result result) noexcept : wait_(ready.wait()), result_(std::move(result)) {}
    [[nodiscard]] bool await_ready() noexcept { return wait_.await_ready(); }
    template <class P>
    bool await_suspend(std::coroutine_handle<P> h) noexcept {
        return wait_.await_suspend(h);
    }
    Result await_resume() noexcept {
        wait_.await_resume();
        return std::move(result_);
    }
    bool try_cancel() noexcept { return wait_.try_cancel(); }

private:
    roost::event::operation wait_;
    Result result_;
};

constexpr std::byte five_bytes[5] = {};

class pipe_end {
public:
    explicit pipe_end(roost::event& ready) noexcept : ready_(&ready) {}
    after<std::size_t> read_some(std::span<std::byte>) { return {*ready_, 5}; }
    after<std::size_t> write_some(std::span<const std::byte> bytes) { return {*ready_, bytes.size()}; }
    after<std::span<const std::byte>> fill_buffer() { return {*ready_, five_bytes}; }
    void consume(std::size_t) {}
    after<std::optional<int>> next() { return {*ready_, 5}; }

private:
    roost::event* ready_;
};

hosted read_once(roost::executor&, shutdown s, roost::event& ready, std::ptrdiff_t& got) {
    auto r = s.interrupt(pipe_end(ready));
    std::byte buffer[8];
    const std::size_t n = co_await r.read_some(buffer);
    got = static_cast<std::ptrdiff_t>(n);
}
hosted write_once(roost::executor&, shutdown s, roost::event& ready, std::ptrdiff_t& got) {
    auto w = s.interrupt(pipe_end(ready));
    const std::size_t n = co_await w.write_some(five_bytes);
    got = static_cast<std::ptrdiff_t>(n);
}
hosted fill_once(roost::executor&, shutdown s, roost::event& ready, std::ptrdiff_t& got) {
    auto r = s.interrupt(pipe_end(ready));
    const std::span<const std::byte> filled = co_await r.fill_buffer();
    got = static_cast<std::ptrdiff_t>(filled.size());
}
hosted next_once(roost::executor&, shutdown s, roost::event& ready, std::ptrdiff_t& got) {
    auto in = s.interrupt(pipe_end(ready));
    const std::optional<int> value = co_await in.next();
    got = value.value_or(0);
}

using operation = hosted (*)(roost::executor&, shutdown, roost::event&, std::ptrdiff_t&);
class awaited_operations : public ::testing::TestWithParam<operation> {};

TEST_P(awaited_operations, SHUT_21_SWB_5_a_pending_one_is_woken_by_stop) {
    hand_executor where;
    const shutdown s;
    roost::event ready;
    std::ptrdiff_t got = -1;
    auto a = GetParam()(where, s, ready, got);
    EXPECT_EQ(got, -1);
    s.shut_down();
    where.run();
    EXPECT_EQ(got, 0);
    EXPECT_EQ(ready.waiters_now(), 0U);
    ready.set();
    got = -1;
    const shutdown other;
    auto b = GetParam()(where, other, ready, got);
    EXPECT_EQ(got, 5);
}

INSTANTIATE_TEST_SUITE_P(all, awaited_operations, ::testing::Values(&read_once, &write_once, &fill_once, &next_once));

}  // namespace
