#include <roost/service/detail/log_writer.hpp>

#include <roost/sync/event.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

namespace roost::service::detail {
namespace {

// Keeps every line; returns from none of them while it is shut.
class gate_sink {
public:
    static void take(const log_line& line, void* context) noexcept {
        auto& me = *static_cast<gate_sink*>(context);
        me.entered.set();
        me.open.wait_blocking();
        const std::lock_guard hold(me.lock_);
        me.lines_.emplace_back(line.text());
    }
    [[nodiscard]] std::vector<std::string> lines() {
        const std::lock_guard hold(lock_);
        return lines_;
    }
    event entered;
    event open;

private:
    os_mutex lock_;
    std::vector<std::string> lines_;
};

log_line line(std::string_view text) { return log_line(severity::info, text); }
time_point soon() { return deadline_after(now(), std::chrono::milliseconds(1)); }

TEST(log_writer, SVC_80_lines_reach_the_sink_in_order_and_finish_waits_for_the_last) {
    gate_sink sink;
    sink.open.set();
    log_writer writer(&gate_sink::take, &sink, 0);
    writer.write(line("one"));
    writer.write(line("two"));
    writer.finish();
    writer.write(line("too late"));
    EXPECT_EQ(sink.lines(), (std::vector<std::string>{"one", "two"}));
}

TEST(log_writer, SVC_100_no_thread_waits_for_a_sink_that_does_not_return) {
    gate_sink sink;
    log_writer writer(&gate_sink::take, &sink, 0);
    writer.write(line("in the sink"));
    sink.entered.wait_blocking();
    for (int i = 0; i < 1000; ++i) {
        writer.write(line("line " + std::to_string(i)));  // hangs if it waits
    }
    EXPECT_FALSE(writer.flush(soon()));
    sink.open.set();
    EXPECT_TRUE(writer.flush(no_deadline));
    const std::vector<std::string> lines = sink.lines();
    ASSERT_GT(lines.size(), 3U);
    EXPECT_EQ(lines[0], "in the sink");
    const std::size_t kept = lines.size() - 2;
    EXPECT_EQ(lines[1], "roost: " + std::to_string(1000 - kept) + " log lines dropped: the log sink does not keep up");
    EXPECT_EQ(lines[2], "line " + std::to_string(1000 - kept));
    EXPECT_EQ(lines.back(), "line 999");
}

TEST(log_writer, SVC_100_a_flush_waits_for_the_line_in_the_sink_also_when_later_ones_were_dropped) {
    gate_sink sink;
    log_writer writer(&gate_sink::take, &sink, 0);
    writer.write(line("in the sink"));
    sink.entered.wait_blocking();
    writer.write(line("the last before the flush"));
    thread other([&] { EXPECT_TRUE(writer.flush(no_deadline)); });
    for (int i = 0; i < 1000; ++i) {
        writer.write(line("line " + std::to_string(i)));
    }
    EXPECT_FALSE(writer.flush(soon()));
    EXPECT_TRUE(sink.lines().empty());
    sink.open.set();
    EXPECT_TRUE(writer.flush(no_deadline));
    other.join();
}

TEST(log_writer, SVC_100_a_sink_that_logs_or_flushes_itself_does_not_deadlock) {
    class talker {
    public:
        static void take(const log_line& l, void* context) noexcept {
            auto& me = *static_cast<talker*>(context);
            if (me.count++ == 0) {
                me.writer->write(line("said inside"));
                EXPECT_FALSE(me.writer->flush(no_deadline));
            }
            me.last = std::string(l.text());
        }
        log_writer* writer = nullptr;
        int count = 0;
        std::string last;
    };
    talker sink;
    log_writer writer(&talker::take, &sink, 0);
    sink.writer = &writer;
    writer.write(line("first"));
    EXPECT_TRUE(writer.flush(no_deadline));
    writer.finish();
    EXPECT_EQ(sink.count, 2);
    EXPECT_EQ(sink.last, "said inside");
}

TEST(log_writer, SVC_80_without_a_sink_lines_go_nowhere) {
    log_writer writer(nullptr, nullptr, 0);
    writer.write(line("nowhere"));
    EXPECT_TRUE(writer.flush(no_deadline));
}

}  // namespace
}  // namespace roost::service::detail
