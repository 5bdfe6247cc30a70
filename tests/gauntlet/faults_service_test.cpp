// Scenario 13 in a service that runs: the Nth allocation fails and the Nth call of user code throws, in the root task, in what its
// end runs, in the thread that conducts the end, and in whoever starts it. Every run is a service of its own on one worker, and
// ends as if nothing had happened; nothing has leaked.

#include "fault_rows.hpp"

#if defined(ROOST_TEST_SERVICE)

#include <roost/service/service.hpp>
#include <roost/task/this_task.hpp>

#include "quiet.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>
#include <csignal>

namespace {

using namespace roost;
using namespace roost::ext;
using gauntlet::allocations_left;
using gauntlet::calls_left;
using gauntlet::leaf;
using gauntlet::outstanding;
using gauntlet::user;
using service::host;

const std::string long_name(100, 'n');

// Where one fault is planted, what became of it, and what the service said; asks for no memory itself.
class watched_run {
public:
    watched_run(long n, bool memory) : n_(n), memory_(memory) {}
    void plant() const { (memory_ ? allocations_left : calls_left) = n_; }
    // True: the fault was still to come.
    static bool uproot() {
        const bool memory_left = allocations_left >= 0;
        const bool calls_are_left = calls_left >= 0;
        allocations_left = -1;
        calls_left = -1;
        return memory_left || calls_are_left;
    }
    [[nodiscard]] service::options options() {
        return service::options()
            .signals(false)
            .sink(&watched_run::take, this)
            .total(std::chrono::hours(1))
            .runtime(runtime_options().workers(1));
    }

    std::atomic<bool> root_ran{false};
    std::atomic<bool> untouched{false};
    std::atomic<bool> threw{false};
    std::atomic<bool> works_again{true};
    std::atomic<int> hooks{0};
    bool ledger_was_last = false;
    bool refused = false;

private:
    static void take(const service::log_line& line, void* context) noexcept {
        auto& me = *static_cast<watched_run*>(context);
        const std::string_view text = line.text();
        me.ledger_was_last = text.substr(0, 7) == "ledger:";
        me.refused = me.refused || text.find("was not started") != std::string_view::npos;
    }
    long n_;
    bool memory_;
};

// The conductor asks the executor for a sign of life in its first look, before anything else is posted: from there on the faults
// are in its thread, until that ends.
class conductor_executor final : public executor {
public:
    conductor_executor(runtime& to, watched_run& w) : to_(to.get_executor()), run_(w) {}
    bool post(work& w) noexcept override {
        if (!planted_.exchange(true)) {
            static thread_local at_end end;
            end.of = &run_;
            run_.plant();
        }
        return to_.post(w);
    }
    timer_service* timers() noexcept override { return to_.timers(); }
    [[nodiscard]] bool is_here() const noexcept override { return to_.is_here(); }

private:
    class at_end {
    public:
        ~at_end() { of->untouched = watched_run::uproot(); }
        watched_run* of = nullptr;
    };
    executor& to_;
    watched_run& run_;
    std::atomic<bool> planted_{false};
};

// --- in the root task ------------------------------------------------------------------------------------------------------

task<> hook() {
    user();
    std::string words(long_name);
    co_await yield();
    user();
}
task<> adds(host& h) {
    static_cast<void>(h.add(std::string(long_name), service::component_options().intake()));
    user();
    co_return;
}
task<> launches(host& h) {
    const job j = h.main().launch(std::string(long_name), leaf(1));
    co_await j.join();
    if (j.error()) {
        std::rethrow_exception(j.error());
    }
}
task<> hooks_up(host& h) {
    const std::string captured(long_name);
    service::component& part = h.add("part");
    part.on_stop([captured] { return hook(); });
    user();
    part.on_stop({});
    h.on_reload([captured] { return hook(); });
    co_return;
}
task<> tells(host& h) {
    const job j = h.main().launch("patient", leaf(1));
    std::exception_ptr failed;
    try {
        if (h.status().empty() || h.tree().find("patient") == std::string::npos || h.report().to_string().empty()) {
            throw std::logic_error("a service that says nothing");
        }
        user();
    } catch (...) {
        failed = std::current_exception();
    }
    co_await j.join();
    if (failed) {
        std::rethrow_exception(failed);
    }
    if (j.error()) {
        std::rethrow_exception(j.error());
    }
}

task<> writes_lines(host& h) {
    const service::log_line line(service::severity::info, long_name);
    if (line.to_string().size() < long_name.size()) {
        throw std::logic_error("a line without its text");
    }
    h.log(line.text());
    user();
    co_return;
}

struct service_row {
    const char* function;
    task<> (*act)(host&);
};
const service_row table[] = {
    {"host::add", adds},
    {"component::launch", launches},
    // also host::on_reload
    {"component::on_stop", hooks_up},
    // also host::tree, host::report
    {"host::status", tells},
    {"log_line::to_string", writes_lines},
};

task<> root_with_fault(host& h, const service_row& r, watched_run& w) {
    w.root_ran = true;
    w.plant();
    try {
        co_await r.act(h);
    } catch (...) {
        w.threw = true;
    }
    w.untouched = watched_run::uproot();
    try {
        co_await r.act(h);
    } catch (...) {
        w.works_again = false;
    }
}

// Each on a thread of its own. How many faults there were.
template <class Try>
long until_nothing_fails(const char* what, Try attempt) {
    long n = 0;
    for (const bool counts : {false, true}) {  // what is made once per process is made in the first pass
        bool over = false;
        for (n = 0; n < 500 && !over; ++n) {
            const long had = outstanding.load();
            std::thread([&] { over = attempt(n); }).join();
            if (counts) {
                EXPECT_LE(gauntlet::left_after(had), had) << what << " leaks when failure " << n << " comes";
            }
        }
        EXPECT_TRUE(over) << what;
    }
    return n - 1;
}

TEST(gauntlet_faults, GAUNTLET_13_the_nth_fault_in_the_root_task_of_a_service) {
    const gauntlet::quiet q("scenario 13");
    long faults = 0;
    for (const service_row& r : table) {
        for (const bool memory : {true, false}) {
            faults += until_nothing_fails(r.function, [&](long n) {
                watched_run w(n, memory);
                const int code = service::run([&](host& h) { return root_with_fault(h, r, w); }, w.options());
                // A job of main that fails has failed the service; what the root task catches itself has not.
                EXPECT_TRUE(code == 0 || (code == service::exit_code::component_failed && w.threw))
                    << r.function << ": failure " << n << ", exit code " << code;
                EXPECT_TRUE(w.root_ran && w.ledger_was_last) << r.function << ": failure " << n;
                EXPECT_TRUE(w.works_again) << r.function << ": does not work after failure " << n;
                EXPECT_FALSE(w.threw && w.untouched) << r.function << ": failed without a fault";
                return w.untouched.load();
            });
        }
    }
    q.say("%zu rows of a service that runs, %ld faults, none leaked, the same worked afterwards", std::size(table), faults);
}

// --- in its end -------------------------------------------------------------------------------------------------------------

task<> counted_hook(watched_run& w) {
    ++w.hooks;
    co_await hook();
}
task<> last_hook(watched_run& w, bool uproots) {
    if (uproots) {
        w.untouched = watched_run::uproot();
    }
    ++w.hooks;
    co_return;
}
void add_parts(host& h, watched_run& w, bool uproots = false) {
    w.root_ran = true;
    h.add("intake", service::component_options().intake()).on_stop([&w] { return counted_hook(w); });
    h.add(std::string(long_name)).on_stop([&w] { return counted_hook(w); });
    h.add("log", service::component_options().release()).on_stop([&w, uproots] { return last_hook(w, uproots); });
}
task<> faults_from_here(host& h, watched_run& w) {
    add_parts(h, w, true);
    w.plant();
    co_return;
}
task<> asks_for_the_end(host& h, watched_run& w, bool by_signal) {
    add_parts(h, w);
    h.set_ready();
    if (by_signal) {
        ::kill(::getpid(), SIGTERM);
    } else {
        h.shut_down(long_name);
    }
    co_await h.stopping();
}

// Failing hooks are reported, and those after them run.
TEST(gauntlet_faults, GAUNTLET_13_SVC_101_the_nth_fault_in_the_hooks_of_a_service_that_ends) {
    const gauntlet::quiet q("scenario 13");
    long faults = 0;
    for (const bool memory : {true, false}) {
        faults += until_nothing_fails("stop hooks", [&](long n) {
            watched_run w(n, memory);
            const int code = service::run([&](host& h) { return faults_from_here(h, w); }, w.options());
            EXPECT_EQ(code, w.untouched ? 0 : service::exit_code::component_failed) << "failure " << n;
            EXPECT_TRUE(w.ledger_was_last) << "failure " << n;
            EXPECT_GE(w.hooks, 2) << "failure " << n << " cost more than the hook it came in";
            return w.untouched.load();
        });
    }
    q.say("%ld faults in the end of a service, none leaked", faults);
}

// Whoever conducts the end does not forget what was asked for; what a component is told to do may fail.
TEST(gauntlet_faults, GAUNTLET_13_SVC_29_the_nth_allocation_in_the_thread_that_conducts_the_end) {
    const gauntlet::quiet q("scenario 13");
    long faults = 0;
    for (const bool by_signal : {false, true}) {
        faults += until_nothing_fails("the conductor", [&](long n) {
            watched_run w(n, true);
            runtime threads(runtime_options().workers(1));
            conductor_executor here(threads, w);
            const int code = service::run([&](host& h) { return asks_for_the_end(h, w, by_signal); },
                                          w.options().signals(by_signal).on(here));
            // A hook that could not be started has failed its component.
            EXPECT_EQ(code, w.hooks == 3 ? 0 : service::exit_code::component_failed) << "failure " << n;
            EXPECT_TRUE(w.ledger_was_last) << "failure " << n;
            EXPECT_GE(w.hooks, 2) << "failure " << n << " cost more than one hook";
            return w.untouched.load();
        });
    }
    q.say("%ld faults in who conducts the end of a service, none forgotten", faults);
}

// --- in its start -----------------------------------------------------------------------------------------------------------

TEST(gauntlet_faults, GAUNTLET_13_SVC_33_the_nth_allocation_in_the_thread_that_runs_a_service) {
    const gauntlet::quiet q("scenario 13");
    const long faults = until_nothing_fails("run", [&](long n) {
        watched_run w(n, true);
        w.plant();
        int code = -1;
        try {
            code = service::run([&](host& h) { return asks_for_the_end(h, w, false); }, w.options());
        } catch (...) {
            ADD_FAILURE() << "failure " << n << " came out as an exception";
        }
        const bool untouched = watched_run::uproot();
        EXPECT_EQ(w.refused, !w.root_ran) << "failure " << n;
        EXPECT_EQ(code, w.refused ? service::exit_code::bad_options : service::exit_code::clean) << "failure " << n;
        EXPECT_NE(w.ledger_was_last, w.refused) << "failure " << n;
        return untouched;
    });
    q.say("%ld faults where a service is started, each a refusal or nothing", faults);
}

}  // namespace

#endif
