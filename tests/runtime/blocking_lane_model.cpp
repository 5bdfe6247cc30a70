// A lane's threads falling asleep while work comes and while it closes, every interleaving at small scope.
// The explorer lets every limit pass at any time: most models have no limit of patience.

#include <roost/runtime/blocking_lane.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <algorithm>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace roost::seam;
using roost::testing::check;

class job final : public blocking_work {
public:
    explicit job(atomic<std::uint32_t>& done) : blocking_work(ran), done_(done) {}

private:
    static void ran(work& self) noexcept {
        atomic<std::uint32_t>& done = static_cast<job&>(self).done_;
        done.fetch_add(1, mo::release);
        wake_on(&done, 1);
    }
    atomic<std::uint32_t>& done_;
};

void wait_for(atomic<std::uint32_t>& done, std::uint32_t n) {
    for (std::uint32_t seen = done.load(mo::acquire); seen != n; seen = done.load(mo::acquire)) {
        wait_on(done, seen);
    }
}

// RUN-45: work that comes while the only thread falls asleep is run, and closing ends a thread that sleeps.
MODEL(blocking_lane_model, submit_while_it_falls_asleep) {
    atomic<std::uint32_t> done{0};
    job first(done);
    job second(done);
    blocking_lane lane(1, "lane", duration::max());
    check(lane.submit(first), "RUN-45: it is open");
    wait_for(done, 1);
    check(lane.submit(second), "RUN-45: it is open");
    wait_for(done, 2);
    static_cast<void>(lane.close(duration::max()));
}

// RUN-47: what was taken before the close still runs, and what comes later is refused.
MODEL(blocking_lane_model, submit_vs_close) {
    atomic<std::uint32_t> done{0};
    job first(done);
    bool taken = false;
    blocking_lane lane(1, "lane", duration::max());
    thread submitter([&] { taken = lane.submit(first); });
    static_cast<void>(lane.close(duration::max()));
    submitter.join();
    check(done.load(mo::acquire) == (taken ? 1U : 0U), "RUN-47: taken and run, or refused");
}

// RUN-195: work that comes while the only thread leaves for want of work is run.
MODEL(blocking_lane_model, RUN_195_submit_while_its_thread_leaves) {
    atomic<std::uint32_t> done{0};
    job first(done);
    job second(done);
    blocking_lane lane(1, "lane", duration(1));
    check(lane.submit(first), "RUN-45: it is open");
    wait_for(done, 1);
    check(lane.submit(second), "RUN-45: it is open");
    wait_for(done, 2);
    check(lane.queued() == 0, "RUN-195: all of it has begun");
    static_cast<void>(lane.close(duration::max()));
}

bool names_queued(const std::vector<lane_entry>& left) {
    return std::any_of(left.begin(), left.end(), [](const lane_entry& e) { return e.how() == lane_entry::state::queued; });
}

// RUN-196: work that a close without patience returns as not begun never runs.
MODEL(blocking_lane_model, not_begun_never_runs) {
    atomic<std::uint32_t> done{0};
    job first(done);
    blocking_lane lane(1, "lane", duration::max());
    check(lane.submit(first), "RUN-45: it is open");
    if (names_queued(lane.close(duration(0)))) {
        check(lane.withdraw(first), "RUN-196: it is still queued");
    } else {
        wait_for(done, 1);  // by a thread that was abandoned, perhaps
    }
}

// RUN-196: a thread that leaves for want of work and is abandoned meanwhile is counted once.
MODEL(blocking_lane_model, abandoned_while_it_leaves) {
    atomic<std::uint32_t> done{0};
    job first(done);
    blocking_lane lane(1, "lane", duration(1));
    check(lane.submit(first), "RUN-45: it is open");
    wait_for(done, 1);
    static_cast<void>(lane.close(duration(0)));
    check(lane.threads() == 0, "RUN-196: every thread has ended or is abandoned");
}

}  // namespace
