// supervise() with scope options: a name, a limit, daemons.
#include <roost/flow/supervise.hpp>
#include <roost/sync/event.hpp>
#include <roost/tree/visit.hpp>

#include "../task/rig.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class bench {
public:
    rig::stage stage;
    event e;
    int runs = 0;
    std::string thrown;
};

task<> fail_times(int times, int& runs) {
    if (++runs <= times) {
        throw std::runtime_error("attempt " + std::to_string(runs));
    }
    co_return;
}
task<> one_slot(supervisor& s, int& first, int& second, event& look, std::uint32_t& free) {
    s.launch("first", fail_times, 1, std::ref(first));
    s.launch("second", fail_times, 0, std::ref(second));
    co_await look.wait();
    free = s.free_slots();
}
task<> run_one_slot(bench& b, int& second, std::uint32_t& free) {
    const auto ended = co_await supervise(scope_options(std::string("one") + " slot").at_most(1),
                                          on_failure::restart(backoff(1h).jitter(0), 5), one_slot, std::ref(b.runs),
                                          std::ref(second), std::ref(b.e), std::ref(free));
    EXPECT_TRUE(ended);
    EXPECT_EQ(ended.counts().started, 2U);
    EXPECT_EQ(ended.counts().restarts, 1U);
}

TEST(supervise, JOB_147_options_name_the_scope_and_a_child_keeps_its_slot_between_attempts) {
    bench b;
    int second = 0;
    std::uint32_t free = 99;
    const job j = b.stage.play(run_one_slot(b, second, free));
    const std::string text = observe::tree_to_string(*j.core());
    EXPECT_NE(text.find("'one slot'"), std::string::npos) << text;
    b.e.set();
    b.stage.advance(59min);
    EXPECT_EQ(b.runs, 1) << "the first child waits for its restart";
    EXPECT_EQ(second, 0) << "it keeps its slot meanwhile";
    EXPECT_EQ(free, 0U);
    b.stage.advance(2min);
    EXPECT_EQ(b.runs, 2);
    EXPECT_EQ(second, 1);
    EXPECT_EQ(j.state(), job_state::completed);
}

task<> beat(int& beats, int fails) {
    if (++beats <= fails) {
        throw std::runtime_error("beat " + std::to_string(beats));
    }
    co_await sleep_for(1h);
}
task<> with_daemon(supervisor& s, int& beats, int fails, event& end, job* kept) {
    job made = s.daemon("heartbeat", beat, std::ref(beats), fails);
    if (kept != nullptr) {
        *kept = made;
    }
    made = job();
    co_await end.wait();
}
task<> run_with_daemon(bench& b, on_failure what, int fails, job* kept, observe::supervised_counts& counts) {
    try {
        const auto ended = co_await supervise(what, with_daemon, std::ref(b.runs), fails, std::ref(b.e), kept);
        counts = ended.counts();
    } catch (const std::runtime_error& e) {
        b.thrown = e.what();
    }
}

TEST(supervise, JOB_147_a_daemon_is_counted_and_cancelled_at_the_end) {
    for (const bool is_kept : {false, true}) {
        for (const int fails : {0, 1}) {
            bench b;
            job kept;
            observe::supervised_counts counts;
            const job j = b.stage.play(
                run_with_daemon(b, on_failure::restart(backoff(1ms), 5), fails, is_kept ? &kept : nullptr, counts));
            b.stage.advance(1s);
            EXPECT_EQ(b.runs, fails + 1);
            b.e.set();
            b.stage.run();
            EXPECT_EQ(j.state(), job_state::completed);
            EXPECT_EQ(counts.started, 1U);
            EXPECT_EQ(counts.cancelled, 1U);
            EXPECT_EQ(counts.restarts, static_cast<std::size_t>(fails));
        }
    }
}

TEST(supervise, JOB_147_a_daemon_before_its_restart_does_not_delay_the_end) {
    bench b;
    observe::supervised_counts counts;
    const job j = b.stage.play(run_with_daemon(b, on_failure::restart(backoff(1h), 5), 1, nullptr, counts));
    b.e.set();
    b.stage.run();
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(b.runs, 1);
    EXPECT_EQ(counts.failures, 1U);
}

TEST(supervise, JOB_147_the_failure_of_a_daemon_escalates) {
    bench b;
    observe::supervised_counts counts;
    const job j = b.stage.play(run_with_daemon(b, on_failure::escalate(), 1, nullptr, counts));
    EXPECT_EQ(j.state(), job_state::completed);
    EXPECT_EQ(b.thrown, "beat 1");
}

task<> no_children(supervisor&) { co_return; }

TEST(supervise_death, JOB_147_options_that_say_what_a_failure_does_end_the_program) {
    EXPECT_DEATH(static_cast<void>(supervise(scope_options("feeds").keep_going(), on_failure::ignore(), no_children)),
                 "supervise 'feeds'.*on_failure decides what a failure does");
}

}  // namespace
