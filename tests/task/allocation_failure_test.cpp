// The Nth allocation of every public operation fails, for N = 0, 1, 2, ... until nothing is left to fail. Each run is on a
// thread of its own, whose frame cache is empty, so that every frame and block counts.
#include <roost/flow/coalescer.hpp>
#include <roost/flow/map_concurrent.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/retry.hpp>
#include <roost/flow/select.hpp>
#include <roost/flow/supervise.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/observe/dump.hpp>
#include <roost/sync/event.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/generator.hpp>
#include <roost/task/job_local.hpp>
#include <roost/task/on.hpp>
#include <roost/task/on_exit.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/shared_deferred.hpp>
#include <roost/task/shield.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>
#include <roost/task/with_note.hpp>

#include "rig.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>

namespace {
thread_local long allocations_left = -1;  // negative: never fail
thread_local long allocations_made = 0;

void* allocate_or_fail(std::size_t size) {
    ++allocations_made;
    if (allocations_left >= 0 && allocations_left-- == 0) {
        allocations_left = -1;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return allocate_or_fail(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate_or_fail(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace std::chrono_literals;

task<int> leaf(int v) {
    co_await yield();
    co_return v;
}
task<int> two_children(scope& s) {
    auto a = s.async(std::string("a copied name that is long"), leaf(1));
    auto b = s.async("b", leaf(2));
    const int x = co_await std::move(a);
    const int y = co_await std::move(b);
    co_return x + y;
}
task<> nothing() { co_return; }

task<> scopes() { static_cast<void>(co_await with_scope(two_children)); }
task<> outcomes() { static_cast<void>(co_await as_outcome(with_scope(two_children))); }
task<> deadlines() {
    static_cast<void>(co_await fail_after(1h, leaf(1)));
    static_cast<void>(co_await move_on_after(1h, leaf(2)));
    static_cast<void>(co_await shield(1h, leaf(3)));
}
task<> exits() {
    co_await on_exit(nothing);
    static_cast<void>(co_await with_note(std::string("a note that needs memory of its own"), leaf(1)));
}
task<> externals_in(scope& s) {
    auto made = make_promise<int>(s, "external", external_cancel::abandon);
    made.second.set_value(4);
    static_cast<void>(co_await std::move(made.first));
    auto dropped = make_promise<int>(s, "dropped", external_cancel::uninterruptible);
    dropped.second = promise<int>();
    static_cast<void>(co_await as_outcome(std::move(dropped.first)));
}
task<> externals() { static_cast<void>(co_await as_outcome(with_scope(externals_in))); }
task<> sharing_in(scope& s) {
    const shared_deferred<int> shared(s.async("shared", leaf(1)));
    static_cast<void>(co_await shared);
    coalescer<int, int> c(s);
    static_cast<void>(co_await c.coalesce(1, leaf));
}
task<> sharing() { co_await with_scope(sharing_in); }
class told {
public:
    static inline int failed = 0;
    static inline int got = 0;
    static inline int reported = 0;
};
class planned : public std::exception {};  // without memory of its own
task<int> fail_later(int) {
    co_await yield();
    ++told::failed;
    throw planned();
}
task<> coalescing_in(scope& s) {
    coalescer<int, int> c(s);
    try {
        static_cast<void>(co_await c.coalesce(1, fail_later));
    } catch (const planned&) {
        ++told::got;
    } catch (const std::bad_alloc&) {  // the computation goes on
    }
}
task<> coalescing() { co_await with_scope(coalescing_in); }
task<> fail_cleanup() {
    ++told::failed;
    throw planned();
    co_return;
}
task<> clean_up_badly(bool fails) {
    co_await on_exit(fail_cleanup);
    if (fails) {
        ++told::failed;
        throw planned();
    }
}
// The first failure stays with the job, the others are told with an outcome.
task<> further_failures() {
    static_cast<void>(co_await as_outcome(clean_up_badly(false)));
    const outcome<void> ended = co_await as_outcome(with_note("a note that needs memory of its own", clean_up_badly(true)));
    told::got += ended.has_error() ? 1 + static_cast<int>(ended.others().size()) : 0;
}
task<> hopping_in(scope& s) { static_cast<void>(co_await on(*s.executor().get(), leaf(1))); }
task<> hopping() { co_await with_scope(hopping_in); }

// --- the job-level API --------------------------------------------------------------------------------------------------

task<int> fail() {
    throw std::runtime_error("planned");
    co_return 0;
}
task<> again(int& runs) {
    co_await yield();
    if (++runs % 3 != 0) {
        throw std::runtime_error("planned");
    }
}
task<> noted() { static_cast<void>(co_await as_outcome(with_note("a note that needs memory of its own", fail()))); }
task<> supervised_two(supervisor& s, int& a, int& b) {
    s.launch("a", again, std::ref(a));
    s.launch("b", again, std::ref(b));
    co_return;
}
task<> supervising() {
    int a = 0;
    int b = 0;
    auto ended = co_await supervise(on_failure::restart(backoff(), 5), supervised_two, std::ref(a), std::ref(b));
    static_cast<void>(ended.body());
}
task<> all_of_them() {
    static_cast<void>(co_await when_all(leaf(1), leaf(2), nothing()));
    std::vector<task<int>> several;
    several.push_back(leaf(1));
    several.push_back(leaf(2));
    static_cast<void>(co_await when_all(std::move(several)));
    static_cast<void>(co_await when_all_settled(leaf(1), fail()));
}
task<> races() {
    static_cast<void>(co_await race(leaf(1), leaf(2)));
    static_cast<void>(co_await first_success(fail(), leaf(2)));
}
// Each alone: what a group before it has recycled would not be allocated.
task<> settled_alone() { static_cast<void>(co_await when_all_settled(leaf(1), leaf(2))); }
task<> first_success_alone() { static_cast<void>(co_await first_success(leaf(1), leaf(2))); }
task<> mappings() {
    const std::vector<int> items{1, 2, 3, 4};
    static_cast<void>(co_await map_concurrent(items, 2, leaf));
}
task<> retries() {
    int runs = 0;
    co_await retry(backoff(), 4, again, std::ref(runs));
}
task<> serving(scope& s, event& never) {
    s.daemon("service", [](event& e) -> task<> { co_await e.wait(); }(never));
    s.launch("child", leaf(1));
    co_return;
}
task<> services() {
    event never;
    co_await with_scope(serving, std::ref(never));
}
task<> limited_two(scope& s) {
    s.launch("a", leaf(1));
    s.launch("b", leaf(2));
    co_return;
}
task<> limits() { co_await with_scope(scope_options("limited scope").at_most(1), limited_two); }
task<> collected(scope& s) {
    s.launch("a", leaf(1));
    s.launch("b", fail());
    co_return;
}
task<> collecting() { static_cast<void>(co_await as_outcome(with_scope(scope_options("collect").keep_going(), collected))); }
constexpr job_local<std::string> place;
task<> values() {
    static_cast<void>(co_await with_value(place, std::string("a text that needs memory of its own"), leaf(1)));
}
task<> selects_in(scope& s) {
    event set("set", true);
    event never;
    auto child = s.async("child", leaf(1));
    static_cast<void>(co_await select(never.wait(), child));
    static_cast<void>(co_await select(never.wait(), set.wait(), sleep_for(1h)));
}
task<> selects() { co_await with_scope(selects_in); }
generator<int> numbers() {
    for (int i = 0; i < 3; ++i) {
        co_await yield();
        co_yield i;
    }
}
task<> streams() {
    auto all = numbers();
    while (true) {
        const int* next = co_await all.next();
        if (next == nullptr) {
            break;
        }
    }
}
task<> dumps_in(scope& s) {
    s.launch("child", leaf(1));
    static_cast<void>(dump(s));
    co_return;
}
task<> dumps() { co_await with_scope(dumps_in); }

using scenario = task<> (*)();

// True: it went through without a failure.
bool run_with(scenario make, long n) {
    rig::stage s;
    bool started = false;
    job j;
    allocations_left = n;
    try {
        j = s.start(make());
        started = true;
        s.run();
    } catch (const std::bad_alloc&) {
        EXPECT_FALSE(started) << "after the start a failure belongs to the job";
    }
    const bool untouched = allocations_left >= 0;
    allocations_left = -1;
    s.run();
    if (started) {
        EXPECT_TRUE(j.is_finished());
    }
    const job again = s.play(scopes());
    EXPECT_EQ(again.state(), job_state::completed) << "the scope can be used again";
    return untouched;
}

void exhaust(scenario make, const char* name) {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept {});
    bool went_through = false;
    long n = 0;
    for (; n < 200 && !went_through; ++n) {
        std::thread([&] { went_through = run_with(make, n); }).join();
    }
    set_failure_sink(before);
    EXPECT_TRUE(went_through) << name;
    EXPECT_GT(n, 2) << name << " allocated nothing, so nothing was tested";
}

TEST(allocation_failure, TASK_34_scopes) { exhaust(scopes, "scopes"); }
TEST(allocation_failure, TASK_34_outcomes) { exhaust(outcomes, "outcomes"); }
TEST(allocation_failure, TASK_34_deadlines_and_shields) { exhaust(deadlines, "deadlines"); }
TEST(allocation_failure, TASK_34_exits_and_traces) { exhaust(exits, "exits"); }
TEST(allocation_failure, TASK_34_notes_of_a_failure) { exhaust(noted, "notes"); }
TEST(allocation_failure, TASK_34_externals) { exhaust(externals, "externals"); }
TEST(allocation_failure, TASK_34_sharing) { exhaust(sharing, "sharing"); }
TEST(allocation_failure, TASK_34_coalesced_failures) { exhaust(coalescing, "coalesced failures"); }
TEST(allocation_failure, JOB_88_a_failure_that_no_getter_got_for_want_of_memory_reaches_the_sink) {
    const auto before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++told::reported; });
    bool went_through = false;
    for (long n = 0; n < 200 && !went_through; ++n) {
        told::failed = told::got = told::reported = 0;
        std::thread([&] { went_through = run_with(coalescing, n); }).join();
        EXPECT_GE(told::got + told::reported, told::failed) << "allocation " << n;
    }
    set_failure_sink(before);
    EXPECT_TRUE(went_through);
}
// The job fails at most once beside that, for want of memory.
TEST(allocation_failure, TASK_34_further_failures_are_kept_or_reported) {
    const auto before =
        set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++told::reported; });
    bool went_through = false;
    for (long n = 0; n < 200 && !went_through; ++n) {
        told::failed = told::got = told::reported = 0;
        std::thread([&] { went_through = run_with(further_failures, n); }).join();
        EXPECT_GE(told::got + told::reported, told::failed) << "allocation " << n;
        EXPECT_LE(told::got + told::reported, told::failed + 1) << "allocation " << n;
    }
    set_failure_sink(before);
    EXPECT_TRUE(went_through);
    EXPECT_EQ(told::failed, 3);
    EXPECT_EQ(told::got, 2);
}
TEST(allocation_failure, JOB_69_supervise) { exhaust(supervising, "supervise"); }
TEST(allocation_failure, JOB_69_when_all) { exhaust(all_of_them, "when_all"); }
TEST(allocation_failure, JOB_69_races) { exhaust(races, "races"); }
TEST(allocation_failure, JOB_69_when_all_settled) { exhaust(settled_alone, "when_all_settled"); }
TEST(allocation_failure, JOB_69_first_success) { exhaust(first_success_alone, "first_success"); }
TEST(allocation_failure, JOB_69_map_concurrent) { exhaust(mappings, "map_concurrent"); }
TEST(allocation_failure, JOB_69_retry) { exhaust(retries, "retry"); }
TEST(allocation_failure, JOB_69_services) { exhaust(services, "services"); }
TEST(allocation_failure, JOB_69_limited_scopes) { exhaust(limits, "limited scopes"); }
TEST(allocation_failure, JOB_69_collect) { exhaust(collecting, "collect"); }
TEST(allocation_failure, JOB_69_values) { exhaust(values, "values"); }
TEST(allocation_failure, JOB_69_select) { exhaust(selects, "select"); }
TEST(allocation_failure, JOB_69_generators) { exhaust(streams, "generators"); }
TEST(allocation_failure, JOB_69_dumps) { exhaust(dumps, "dumps"); }
TEST(allocation_failure, TASK_34_on) { exhaust(hopping, "hopping"); }

// Runs what is posted on a thread of its own.
class one_thread final : public executor {
public:
    one_thread() : thread_([this] { run(); }) {}
    ~one_thread() {
        {
            const std::lock_guard guard(mutex_);
            closed_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    bool post(work& w) noexcept override {
        const std::lock_guard guard(mutex_);
        queue_.push(w);
        changed_.notify_one();
        return true;
    }

private:
    void run() {
        for (;;) {
            work* next = nullptr;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return closed_ || !queue_.is_empty(); });
                next = queue_.pop();
            }
            if (next == nullptr) {
                return;
            }
            next->run();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    work_list queue_;
    bool closed_ = false;
    std::thread thread_;
};

TEST(allocation_failure, TASK_34_block_on) {
    one_thread there;
    bool went_through = false;
    long n = 0;
    for (; n < 50 && !went_through; ++n) {
        std::thread([&] {
            allocations_left = n;
            try {
                EXPECT_EQ(block_on(there, leaf(3)), 3);
            } catch (const std::bad_alloc&) {}
            went_through = allocations_left >= 0;
            allocations_left = -1;
        }).join();
    }
    EXPECT_TRUE(went_through);
    EXPECT_GT(n, 2) << "it allocated nothing, so nothing was tested";
}

// What a started child costs beside its frame: see also the assertion on sizeof(job_core).
TEST(allocation_failure, TASK_41_a_child_costs_one_allocation_beside_its_frame_and_none_once_frames_are_recycled) {
    std::thread([] {
        rig::stage s;
        long before = allocations_made;
        auto first = nothing();
        EXPECT_LE(allocations_made - before, 1) << "the frame";
        before = allocations_made;
        s.root.launch("first", std::move(first));
        EXPECT_LE(allocations_made - before, 1) << "the job";
        s.run();
        before = allocations_made;
        s.root.launch("second", nothing());
        s.run();
        if (!ROOST_ASAN) {  // where nothing is recycled, so that a use after free is seen
            EXPECT_EQ(allocations_made - before, 0);
        }
    }).join();
}

}  // namespace
