// Threads of a lane that end slowly, wait for tasks, or do not come back.

#include <roost/runtime/detail/lane_core.hpp>

#include <roost/observe/dump.hpp>
#include <roost/runtime/blocking.hpp>
#include <roost/runtime/run.hpp>
#include <roost/task/owned_scope.hpp>

#include "fixture.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace {

using namespace runtime_tests;
using namespace std::chrono_literals;

struct job_of : blocking_work {
    explicit job_of(std::function<void()> f)
        : blocking_work(+[](work& w) noexcept { static_cast<job_of&>(w).body(); }), body(std::move(f)) {}
    std::function<void()> body;
};

class gate {
public:
    void open() {
        word_.store(1, mo::release);
        wake_on(&word_, 100);
    }
    void wait() {
        while (word_.load(mo::acquire) == 0) {
            wait_on(word_, 0);
        }
    }

private:
    atomic<std::uint32_t> word_{0};
};

// --- ends of threads -------------------------------------------------------------------------------------------------------

gate* held_at = nullptr;
blocking_lane* used_lane = nullptr;
struct ends_slowly {
    bool is_used = false;
    ~ends_slowly() {
        if (is_used) {
            held_at->wait();
            static_cast<void>(used_lane->queued());
        }
    }
};
thread_local ends_slowly at_thread_end;

TEST(lane_core, RUN_154_a_thread_that_ends_slowly_delays_no_other) {
    gate end;
    held_at = &end;
    blocking_lane lane(1, "lane", 1ms);
    used_lane = &lane;
    countdown first(1);
    job_of marks([&] {
        at_thread_end.is_used = true;
        first.down();
    });
    EXPECT_TRUE(lane.submit(marks));
    first.wait();
    while (lane.threads() != 0) {
        yield_thread();
    }
    for (int i = 0; i < 3; ++i) {  // each by a new thread, while the first one still ends
        countdown next(1);
        job_of another([&] { next.down(); });
        EXPECT_TRUE(lane.submit(another));
        next.wait();
        while (lane.threads() != 0) {
            yield_thread();
        }
    }
    end.open();
    EXPECT_TRUE(lane.close().empty());
}

// --- all of them wait for tasks ----------------------------------------------------------------------------------------------

runtime* nested_on = nullptr;
task<int> deeper(int n) {
    if (n == 0) {
        co_return 0;
    }
    const int below = co_await blocking([n] { return run(*nested_on, deeper(n - 1)); });
    co_return 1 + below;
}

TEST(lane_core, RUN_155_nested_waits_for_tasks_beyond_the_limit_do_not_deadlock) {
    for (const unsigned workers : {1U, 2U}) {
        runtime rt(
            runtime_options().workers(workers).name("nest").blocking_threads(2).soft_budget(0s));  // says nothing else
        nested_on = &rt;
        ::testing::internal::CaptureStderr();
        const int depth = run(rt, deeper(7));
        const std::string said = ::testing::internal::GetCapturedStderr();
        EXPECT_EQ(depth, 7);
        EXPECT_NE(said.find("roost: blocking lane 'nest/block': all 2 threads wait for tasks"), std::string::npos) << said;
        EXPECT_EQ(said.find('\n'), said.size() - 1) << "once: " << said;
        int after = 0;
        run(rt, [](int* out) -> task<> { *out = co_await blocking([] { return 1; }); }(&after));
        EXPECT_EQ(after, 1);
        while (rt.blocking().threads() > 2) {
            yield_thread();
        }
    }
}

// --- that do not come back ---------------------------------------------------------------------------------------------------

// Objects that abandoned threads refer to: they stay reachable, so that they are no leak.
template <class T>
T* keep_for_ever(T* made) {
    static std::vector<void*>* const kept = new std::vector<void*>;
    kept->push_back(made);
    return made;
}

TEST(lane_core, RUN_156_what_does_not_end_is_abandoned_by_name_with_what_waits_behind_it) {
    auto end = std::make_shared<gate>();
    countdown begun(1);
    auto* stuck = keep_for_ever(new job_of([end, &begun] {
        begun.down();
        end->wait();
    }));
    const site here = site::here();
    stuck->set_label(roost::detail::activity_label("feed", here));
    int ran = 0;
    job_of behind([&] { ++ran; });
    std::vector<lane_entry> left;
    {
        blocking_lane lane(1, "lane");
        EXPECT_TRUE(lane.submit(*stuck));
        begun.wait();
        EXPECT_TRUE(lane.submit(behind));
        left = lane.close(1ms);
        EXPECT_TRUE(lane.withdraw(behind)) << "it never began";
        EXPECT_EQ(lane.threads(), 0U);
    }
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].to_string(), "a blocking function, not begun");
    EXPECT_EQ(left[1].how(), lane_entry::state::running);
    EXPECT_EQ(left[1].name(), "feed");
    EXPECT_NE(left[1].to_string().find("blocking function of 'feed' (" + here.to_string() + "), running for "),
              std::string::npos)
        << left[1].to_string();
    end->open();  // its thread ends after everything of the lane; `stuck` is left to it
    EXPECT_EQ(ran, 0);
}

TEST(lane_core, RUN_156_a_lane_that_gets_on_is_waited_for) {
    blocking_lane lane(1, "lane");
    gate go;
    int ran = 0;
    job_of first([&] { go.wait(); });
    std::vector<std::unique_ptr<job_of>> rest;
    EXPECT_TRUE(lane.submit(first));
    for (int i = 0; i < 20; ++i) {
        rest.push_back(std::make_unique<job_of>([&] { ++ran; }));
        EXPECT_TRUE(lane.submit(*rest.back()));
    }
    thread opener([&] { go.open(); });
    EXPECT_TRUE(lane.close(std::chrono::hours(1)).empty());
    opener.join();
    EXPECT_EQ(ran, 20);
}

TEST(lane_core, RUN_196_an_idle_thread_is_not_named_as_running_work) {
    for (int i = 0; i < 50; ++i) {
        blocking_lane lane(1, "lane");
        countdown over(1);
        job_of quick([&] { over.down(); });
        EXPECT_TRUE(lane.submit(quick));
        over.wait();
        while (!lane.running().empty()) {
            yield_thread();
        }
        for (const lane_entry& e : lane.close(0ms)) {
            EXPECT_EQ(e.how(), lane_entry::state::ending) << e.to_string();
        }
        EXPECT_EQ(lane.threads(), 0U);
    }
}

// --- coroutines that go on on the lane's thread --------------------------------------------------------------------------------

struct detached {
    struct promise_type {
        detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

detached stays(blocking_lane& lane, std::shared_ptr<gate> end, countdown* resumed, countdown* over) {
    co_await blocking_on(lane, [] {});
    resumed->down();
    end->wait();
    over->down();
}

TEST(lane_core, RUN_197_a_coroutine_without_an_executor_is_abandoned_by_name) {
    auto end = std::make_shared<gate>();
    countdown resumed(1);
    countdown over(1);
    {
        blocking_lane lane(1, "lane");
        stays(lane, end, &resumed, &over);
        resumed.wait();
        const std::vector<lane_entry> left = lane.close(1ms);
        ASSERT_EQ(left.size(), 1U);
        EXPECT_EQ(left[0].how(), lane_entry::state::running);
    }
    end->open();
    over.wait();
}

class runs_at_once final : public executor {
public:
    explicit runs_at_once(blocking_lane& lane) : lane_(lane) {}
    bool post(work& w) noexcept override {
        w.run();
        return true;
    }
    [[nodiscard]] std::string_view name() const noexcept override { return "at once"; }
    [[nodiscard]] blocking_service* blocking() noexcept override { return &lane_; }

private:
    blocking_lane& lane_;
};

TEST(lane_core, RUN_197_a_coroutine_of_an_executor_that_runs_at_once_is_abandoned_by_name) {
    auto end = std::make_shared<gate>();
    countdown resumed(1);
    blocking_lane lane(1, "lane");
    runs_at_once below(lane);
    owned_scope root(below, scope_options("root").report_failures());
    root.launch("grind", [](std::shared_ptr<gate> until, countdown* in) -> task<> {
        co_await blocking([] {});
        in->down();
        until->wait();
    }(end, &resumed));
    resumed.wait();
    const std::vector<lane_entry> left = lane.close(1ms);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].name(), "grind");
    EXPECT_EQ(left[0].how(), lane_entry::state::running);
    end->open();
    root.close_blocking();
}

task<> waits_at(std::shared_ptr<gate> end, countdown* begun, int* resumed) {
    co_await blocking(
        +[](const std::shared_ptr<gate>& at, countdown* in) {
            in->down();
            at->wait();
        },
        end, begun);
    ++*resumed;
}

TEST(lane_core, RUN_156_an_abandoned_function_resumes_nothing_when_it_returns) {
    auto end = std::make_shared<gate>();
    countdown begun(1);
    int resumed = 0;
    std::optional<runtime> rt(std::in_place, runtime_options().workers(2).name("mill").blocking_patience(1ms));
    auto* root = keep_for_ever(new owned_scope(*rt, "root"));  // left behind with its job
    root->launch("grind", waits_at(end, &begun, &resumed));
    begun.wait();
    const std::vector<lane_entry> busy = rt->blocking().running();
    ASSERT_EQ(busy.size(), 1U);
    EXPECT_EQ(busy[0].name(), "grind") << "RUN-157";
    while (dump(*root).find("waits on blocking function") == std::string::npos) {
        yield_thread();  // the function may have begun before its job has suspended
    }
    const runtime_ending how = rt->shut_down();
    ASSERT_EQ(how.abandoned().size(), 1U);
    EXPECT_NE(how.abandoned()[0].to_string().find("blocking function of 'grind' ("), std::string::npos);
    rt.reset();
    const long threads = end.use_count();
    end->open();
    EXPECT_GT(threads, 1);
    EXPECT_EQ(resumed, 0);
}

TEST(lane_core, RUN_156_the_destructor_names_what_it_leaves_behind) {
    auto end = std::make_shared<gate>();
    countdown begun(1);
    int resumed = 0;
    ::testing::internal::CaptureStderr();
    {
        runtime rt(runtime_options().workers(1).name("mill").blocking_patience(1ms));
        auto* root = keep_for_ever(new owned_scope(rt, "root"));
        root->launch("grind", waits_at(end, &begun, &resumed));
        begun.wait();
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("roost: runtime 'mill' (made at "), std::string::npos) << said;
    EXPECT_NE(said.find(" ended and abandoned blocking function of 'grind' ("), std::string::npos) << said;
    end->open();
}

TEST(lane_core, RUN_157_running_lists_name_place_and_waits) {
    runtime rt(runtime_options().workers(1));
    nested_on = &rt;
    gate end;
    countdown begun(1);
    const auto outer = [](gate* at, countdown* in) -> task<> {
        co_await blocking([at, in] {
            run(*nested_on, [](gate* until, countdown* down) -> task<> {
                down->down();
                co_await blocking([until] { until->wait(); });
            }(at, in));
        });
    };
    EXPECT_TRUE(rt.blocking().running().empty());
    thread runs([&] { block_on(rt, outer(&end, &begun), "outer"); });
    begun.wait();
    std::string all;
    while (all.find("waits for a task") == std::string::npos || all.find("'main'") == std::string::npos) {
        all.clear();
        for (const lane_entry& e : rt.blocking().running()) {
            all += e.to_string() + "\n";
        }
    }
    EXPECT_NE(all.find("blocking function of 'outer' ("), std::string::npos) << all;
    end.open();
    runs.join();
}

}  // namespace
