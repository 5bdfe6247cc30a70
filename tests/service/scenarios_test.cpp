// What the child processes of signals_test.cpp and conductor_test.cpp run. Each scenario is a small service; its number is the
// exit status of the process.

#include <roost/service/service.hpp>

#include <roost/observe/recorder.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/service/detail/signal_inbox.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

namespace roost::service {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Long budgets, so that only what a test sends can end a phase; short reports.
options patient() {
    return options()
        .name("scenario")
        .total(hours(6))
        .budget(phase::stop_intake, hours(1))
        .budget(phase::lame_duck, milliseconds(0))
        .report_every(milliseconds(20))
        .runtime(runtime_options().workers(2).soft_budget(duration(0)));
}
// Everything is over soon, whatever hangs.
options hasty() {
    return options()
        .name("scenario")
        .total(milliseconds(600))
        .report_every(milliseconds(20))
        .runtime(runtime_options().workers(1).soft_budget(duration(0)));
}

task<> wait_for_ever(event& never) { co_await never.wait(); }

// For ever. ThreadSanitizer hands a signal to its thread only at a call that it knows.
task<> spin() {
    for (volatile bool on = true; on;) {
        ::usleep(0);
    }
    co_return;
}

task<> serve_until_stop(host& h) {
    h.set_ready();
    co_await h.stopping();
}

int clean() { return run(serve_until_stop, patient()); }

// One job that ends only when it is cancelled.
int stuck(const options& o) {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            h.main().launch("planted", wait_for_ever(never));
            h.set_ready();
            co_await h.stopping();
        },
        o);
}

// Every worker in an endless loop.
int wedged(const options& o) {
    return run(
        [](host& h) -> task<> {
            auto order = h.ledger().accept();
            h.set_ready();
            h.log("wedged now");
            co_await spin();
        },
        o);
}

// The program's own request, with something that nothing can end.
int own_request() {
    return run(
        [](host& h) -> task<> {
            h.shut_down("enough");
            co_await spin();
        },
        hasty());
}

int early(int signals) {
    remember_signals();
    for (int i = 0; i < signals; ++i) {
        ::raise(i == 0 ? SIGTERM : SIGINT);
    }
    return run(
        [](host& h) -> task<> {
            h.log("the body runs");
            co_await h.stopping();
            h.log("and was told to stop");
        },
        patient());
}

int reloads() {
    return run(
        [](host& h) -> task<> {
            static int times = 0;  // a reload may still run when this body has ended
            h.on_reload([&h]() -> task<> {
                h.log("reloading, number " + std::to_string(++times));
                if (times == 2) {
                    throw std::runtime_error("bad file");
                }
                co_return;
            });
            h.set_ready();
            co_await h.stopping();
        },
        patient());
}

// A reload that takes until the second SIGUSR1.
int slow_reload() {
    return run(
        [](host& h) -> task<> {
            h.on_reload([&h]() -> task<> {
                h.log("the hook begins");
                while (detail::signal_inbox::read().of(detail::handled::user) < 2) {
                    co_await sleep_for(milliseconds(1));
                }
                h.log("the hook ends");
            });
            h.set_ready();
            co_await h.stopping();
        },
        patient());
}

// The sink never returns from the first line that contains this, nor from any later one.
options blocked_at(const char* text) {
    static std::atomic<bool> block{false};
    static const char* from;
    from = text;
    const log_sink sink = [](const log_line& line, void*) noexcept {
        if (line.text().find(from) != std::string_view::npos && !block.exchange(true)) {
            log_to_stderr(log_line(severity::info, "the sink blocks"), nullptr);
        }
        while (block) {
            ::pause();
        }
        log_to_stderr(line, nullptr);
    };
    return hasty().sink(sink);
}

int blocked_sink() { return run(serve_until_stop, blocked_at("shutting down")); }
// From the very first line.
int blocked_from_the_start() { return run(serve_until_stop, blocked_at("is ready")); }
// The standard error stream is a pipe that is full and has no reader; a worker overruns its budget besides.
int full_pipe() {
    log_to_stderr(log_line(severity::info, "about to block"), nullptr);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const char junk[4096] = {};
    while (::write(ends[1], junk, sizeof junk) > 0) {}
    ::fcntl(ends[1], F_SETFL, 0);
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    return run(
        [kept](host& h) -> task<> {
            h.set_ready();
            for (int i = 0; i < 100'000; ++i) {
                h.log("one of a flood of lines that nothing takes");
            }
            EXPECT_EQ(::write(kept, "serving\n", 8), 8);
            co_await h.stopping();
        },
        patient().log_buffer(1 << 16).runtime(runtime_options().workers(2).soft_budget(milliseconds(1))));
}
int blocked_ledger() { return run(serve_until_stop, blocked_at("ledger:")); }
// Also for what is said of a signal that came before the start.
int blocked_early() {
    remember_signals();
    log_to_stderr(log_line(severity::info, "remembering"), nullptr);
    ::raise(SIGTERM);
    return run(serve_until_stop, blocked_at("shutting down"));
}
// And for the sentence with which a service is refused.
int blocked_refusal() {
    remember_signals();
    log_to_stderr(log_line(severity::info, "remembering"), nullptr);
    return run(serve_until_stop, blocked_at("was not started").budget(phase::drain, hours(1)));
}

// A child of a worker must not inherit what the service does with signals.
int starts_programs() {
    return run(
        [](host& h) -> task<int> {
            const int executed = co_await blocking([] { return std::system("kill -TERM $$; exit 7"); });
            const int forked = co_await blocking([] {
                const pid_t child = ::fork();
                if (child == 0) {
                    ::raise(SIGTERM);
                    ::_exit(7);
                }
                int status = 0;
                ::waitpid(child, &status, 0);
                return status;
            });
            h.log("done");
            co_return WIFSIGNALED(executed) && WIFSIGNALED(forked) ? 0 : 3;
        },
        patient());
}

int lost_work() {
    return run(
        [](host& h) -> task<> {
            static auto* const forgotten = new ledger::entry(h.ledger().accept());
            EXPECT_TRUE(forgotten->is_open());
            co_return;
        },
        patient());
}

int broken() {
    return run(
        [](host& h) -> task<> {
            auto order = h.ledger().accept();
            roost::detail::panic("a rule was broken");
            co_return;
        },
        patient());
}

// The sink itself breaks a rule.
int broken_sink() {
    const log_sink sink = [](const log_line&, void*) noexcept { roost::detail::panic("the sink broke a rule"); };
    return run(serve_until_stop, patient().sink(sink));
}

int shielded() {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            h.set_ready();
            co_await shield(hours(5), wait_for_ever(never));
        },
        options()
            .name("scenario")
            .total(hours(6))
            .budget(phase::stop_intake, milliseconds(0))
            .budget(phase::drain, milliseconds(0))
            .budget(phase::cancel, milliseconds(50))
            .report_every(milliseconds(20)));
}

// The resources do not end when they are asked to.
int stuck_release() {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            auto& db = h.add("db", component_options().release());
            db.on_stop([&never] { return wait_for_ever(never); });
            h.set_ready();
            co_await h.stopping();
        },
        patient().budget(phase::release, milliseconds(100)));
}

// One old job, then a crowd of equal ones.
int many_holders() {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            h.main().launch("eldest", wait_for_ever(never));
            co_await sleep_for(milliseconds(30));
            for (int i = 0; i < 40; ++i) {
                h.main().launch("crowd", wait_for_ever(never));
            }
            h.set_ready();
            co_await h.stopping();
        },
        patient());
}

task<> one_of_the_queue(int number) {
    while (detail::signal_inbox::read().of(detail::handled::user) == 0) {
        co_await sleep_for(milliseconds(1));
    }
    co_await sleep_for(milliseconds(25 * number));
}

// From SIGUSR1 on it gets shorter for a while, then it hangs.
int slow_queue() {
    event never("never");
    return run(
        [&never](host& h) -> task<> {
            h.main().launch("last", wait_for_ever(never));
            h.set_ready();
            co_await h.stopping();
            for (int i = 1; i <= 10; ++i) {
                h.main().launch("one of the queue", one_of_the_queue(i));
            }
        },
        patient());
}

task<> blocks_for_ever() {
    co_await blocking([] { ::pause(); });
}

int stuck_in_the_lane() {
    return run(
        [](host& h) -> task<> {
            h.main().launch("reader", blocks_for_ever());
            h.set_ready();
            co_await h.stopping();
        },
        patient());
}

int twice() {
    const int first = run(serve_until_stop, patient());
    const int second = run(serve_until_stop, patient());
    return first + second == 0 ? 0 : 1;
}

const std::map<std::string, int (*)()> scenarios = {
    {"clean", clean},
    {"stuck in the lane", stuck_in_the_lane},
    {"stuck", [] { return stuck(patient()); }},
    {"drain deadline",
     [] {
         return stuck(options()
                          .name("scenario")
                          .total(hours(6))
                          .budget(phase::drain, milliseconds(100))
                          .report_every(milliseconds(20)));
     }},
    {"wedged",
     [] {
         return wedged(
             patient().runtime(runtime_options().workers(1).soft_budget(duration(0))).live_within(std::chrono::seconds(1)));
     }},
    {"wedged, hasty", [] { return wedged(hasty()); }},
    {"own request", own_request},
    {"early", [] { return early(1); }},
    {"early twice", [] { return early(2); }},
    {"reloads", reloads},
    {"slow reload", slow_reload},
    {"blocked sink", blocked_sink},
    {"blocked from the start", blocked_from_the_start},
    {"full pipe", full_pipe},
    {"blocked ledger", blocked_ledger},
    {"blocked early", blocked_early},
    {"blocked refusal", blocked_refusal},
    {"starts programs", starts_programs},
    {"lost work", lost_work},
    {"broken", broken},
    {"broken sink", broken_sink},
    {"shielded", shielded},
    {"stuck release", stuck_release},
    {"many holders", many_holders},
    {"slow queue", slow_queue},
    {"twice", twice},
};

TEST(scenario, DISABLED_run) {
    const char* name = std::getenv("ROOST_SCENARIO");
    ASSERT_NE(name, nullptr) << "only for child processes";
    const auto found = scenarios.find(name);
    ASSERT_NE(found, scenarios.end()) << name;
    if (const char* path = std::getenv("ROOST_TEST_RECORDING")) {
        observe::recorder::start();
        observe::recorder::prepare_file(path);
    }
    std::exit(found->second());
}

}  // namespace
}  // namespace roost::service
