// Two workers and foreign threads: every event of every job exactly once, also while observers come and go.
#include <roost/flow/supervise.hpp>
#include <roost/observe/job_events.hpp>
#include <roost/runtime/runtime.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/this_task.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace roost;
using namespace roost::observe;

namespace {

int scaled(int full) {
    const char* text = std::getenv("ROOST_STRESS_SCALE");
    const double scale = text == nullptr ? 0.05 : std::atof(text);
    return std::max(100, static_cast<int>(full * scale));
}

constexpr std::size_t kinds = 7;
constexpr std::size_t states = 7;

// What was said of one job. Kept until another job lives at its address: who waited may be told of after its end, but not
// after its memory has gone.
class history {
public:
    std::array<int, kinds> events{};
    std::array<int, states> changes{};
    job_state last = job_state::fresh;
};

bool may_follow(job_state before, job_state after) {
    switch (before) {
        case job_state::fresh: return after == job_state::active || after == job_state::cancelling;
        case job_state::active: return after == job_state::completing || after == job_state::cancelling;
        case job_state::completing: return after == job_state::cancelling || is_final(after);
        case job_state::cancelling: return is_final(after);
        default: return false;
    }
}

// Locked, so that it also notices calls out of order: nothing of a job is told before it was created, no state before the one
// it follows, no request after the end, and no waiter is woken before it waits.
class ledger final : public job_observer {
public:
    void on_event(const job_event& e) noexcept override {
        const std::lock_guard guard(lock_);
        const auto kind = static_cast<std::size_t>(e.kind());
        ++totals_[kind];
        history& h = jobs_[e.id()];
        if (e.kind() == job_event_kind::created) {
            if (h.events[kind] != 0) {
                check(h);
            }
            h = history();
        } else if (h.events[static_cast<std::size_t>(job_event_kind::created)] != 1) {
            wrong_ = "told of a job before it was created: " + std::string(to_string(e.kind()));
        }
        ++h.events[kind];
        if (e.kind() == job_event_kind::state_changed) {
            ++h.changes[static_cast<std::size_t>(e.state())];
            if (!may_follow(h.last, e.state())) {
                wrong_ = "told " + std::string(to_string(h.last)) + ", then " + std::string(to_string(e.state()));
            }
            h.last = e.state();
        } else if (e.kind() == job_event_kind::cancel_requested && is_final(h.last)) {
            wrong_ = "told of a request after the end";
        } else if (e.kind() == job_event_kind::wait_woken &&
                   count_of(h, e.kind()) > count_of(h, job_event_kind::wait_registered)) {
            wrong_ = "told of a wake before its wait";
        }
    }
    [[nodiscard]] std::uint64_t total(job_event_kind kind) const { return totals_[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] std::uint64_t changes_to(job_state s) const { return changes_[static_cast<std::size_t>(s)]; }
    // At the end, when nothing lives.
    std::string finish() {
        for (auto& [id, h] : jobs_) {
            check(h);
        }
        return wrong_;
    }

private:
    static int count_of(const history& h, job_event_kind kind) { return h.events[static_cast<std::size_t>(kind)]; }
    void check(const history& h) {
        const auto count = [&](job_event_kind kind) { return count_of(h, kind); };
        if (count(job_event_kind::created) != 1 || count(job_event_kind::child_attached) != 1 ||
            count(job_event_kind::finished) != 1 || count(job_event_kind::cancel_requested) > 1 ||
            count(job_event_kind::wait_woken) > count(job_event_kind::wait_registered)) {
            wrong_ = "a job was told of too often or not at all";
        }
        int last = 0;
        for (std::size_t s = 0; s < states; ++s) {
            changes_[s] += static_cast<std::uint64_t>(h.changes[s]);
            last += is_final(static_cast<job_state>(s)) ? h.changes[s] : 0;
            if (h.changes[s] > 1) {
                wrong_ = "a state was reached twice: " + std::string(to_string(static_cast<job_state>(s)));
            }
        }
        if (last != 1) {
            wrong_ = "a job has not exactly one final state";
        }
    }

    std::mutex lock_;
    std::unordered_map<const void*, history> jobs_;
    std::array<std::uint64_t, kinds> totals_{};
    std::array<std::uint64_t, states> changes_{};
    std::string wrong_;
};

// Wants to hear of something: then the switch was on while it was there.
class passer_by final : public job_observer {
public:
    void on_event(const job_event&) noexcept override { heard_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> heard_{0};
};

task<> step(int i) {
    co_await yield();
    if (i % 7 == 0) {
        throw std::runtime_error("planned");
    }
}
task<> join_one(job j) { co_await j.join(); }
// Jobs that a foreign thread cancels at any moment.
class victims {
public:
    void add(job j) {
        const std::lock_guard guard(lock_);
        jobs_.push_back(std::move(j));
    }
    bool cancel_one() {
        job j;
        {
            const std::lock_guard guard(lock_);
            if (jobs_.empty()) {
                return false;
            }
            j = std::move(jobs_.back());
            jobs_.pop_back();
        }
        j.cancel();
        return true;
    }

private:
    std::mutex lock_;
    std::vector<job> jobs_;
};

task<> round_of_jobs(supervisor& s, int i, victims& some) {
    std::vector<job> all;
    for (int n = 0; n < 6; ++n) {
        all.push_back(s.launch("step", step, i + n));
        s.launch("joiner", join_one, all.back());
    }
    some.add(all[static_cast<std::size_t>(i % 6)]);
    some.add(all[static_cast<std::size_t>((i + 1) % 6)]);
    all[static_cast<std::size_t>((i + 1) % 6)].cancel();  // as well
    for (const job& j : all) {
        co_await j.join();
    }
}
task<> many_rounds(int rounds, victims& some) {
    for (int i = 0; i < rounds; ++i) {
        auto ended = co_await supervise(on_failure::ignore(), round_of_jobs, i, std::ref(some));
        static_cast<void>(ended.body());
    }
}

TEST(job_events_stress, JOB_62_every_event_once_on_two_workers_while_observers_come_and_go) {
    const bool counted_before = set_job_counting(true);
    const job_counts before = job_counts_now();
    ledger all;
    {
        const observation on(all);
        victims some;
        std::atomic<bool> over{false};
        std::thread canceller([&] {
            while (some.cancel_one() || !over.load()) {
                std::this_thread::yield();
            }
        });
        std::thread visitor([&] {
            passer_by who;
            while (!over.load()) {
                const observation for_a_moment(who);
            }
        });
        {
            runtime rt(runtime_options().workers(2));
            block_on(rt, many_rounds(scaled(20'000), some));
        }
        over.store(true);
        canceller.join();
        visitor.join();
    }
    const job_counts after = job_counts_now();
    set_job_counting(counted_before);
    EXPECT_EQ(all.finish(), "");
    EXPECT_EQ(all.total(job_event_kind::created), after.created() - before.created());
    EXPECT_EQ(all.total(job_event_kind::child_attached), all.total(job_event_kind::created));
    EXPECT_EQ(all.total(job_event_kind::finished), after.finished() - before.finished());
    EXPECT_EQ(all.total(job_event_kind::finished), all.total(job_event_kind::created));
    EXPECT_EQ(all.total(job_event_kind::cancel_requested), after.cancels_requested() - before.cancels_requested());
    EXPECT_EQ(all.total(job_event_kind::cancel_requested), all.changes_to(job_state::cancelling));
    EXPECT_EQ(all.total(job_event_kind::wait_registered), after.waits_registered() - before.waits_registered());
    EXPECT_EQ(all.total(job_event_kind::wait_woken), all.total(job_event_kind::wait_registered));
    EXPECT_EQ(all.total(job_event_kind::wait_woken), after.waits_woken() - before.waits_woken());
    EXPECT_GT(all.total(job_event_kind::cancel_requested), 0U);
}

}  // namespace
