// The children of a group: taken back by the awaiting body or begun elsewhere, while one fails, wins or is cancelled.
#include <roost/exec/detail/bell.hpp>
#include <roost/flow/detail/group/fork.hpp>
#include <roost/flow/race.hpp>
#include <roost/flow/when_all.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/this_task.hpp>
#include <roost/tree/visit.hpp>

#include "../task/model_rig.hpp"

#include <mutex>
#include <optional>
#include <stdexcept>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::ext;
using namespace roost::seam;
using roost::testing::check;

// For three threads: every way with at most two preemptions.
const roost::testing::options two_switches{.memory = roost::testing::memory::weak, .preemption_bound = 2};

// One stack of work for all threads: the newest first, handed back to a waiter.
class shared_stack final : public executor {
public:
    bool post(work& w) noexcept override {
        {
            const std::lock_guard guard(lock_);
            all_.push_front(w);
        }
        bell_.ring();
        return true;
    }
    bool take_next(const work& w) noexcept override {
        const std::lock_guard guard(lock_);
        work* newest = all_.pop();
        if (newest != nullptr && newest != &w) {
            all_.push_front(*newest);
        }
        return newest == &w;
    }
    [[nodiscard]] bool is_here() const noexcept override { return true; }
    bool run_one() noexcept {
        work* w = nullptr;
        {
            const std::lock_guard guard(lock_);
            w = all_.pop();
        }
        if (w != nullptr) {
            w->run();
        }
        return w != nullptr;
    }
    template <class Done>
    void run_until(Done done) {
        for (std::uint32_t heard = bell_.listen(); !done(); heard = bell_.listen()) {
            if (!run_one()) {
                bell_.sleep(heard);
            }
        }
    }
    void wake() noexcept { bell_.ring(); }

private:
    small_mutex lock_;
    work_list all_;
    detail::bell bell_;
};

// A body on this thread, a thief that runs what it finds, and the promise that everything ends.
template <class Other>
void play(shared_stack& ex, owned_scope& root, const job& j, Other other) {
    thread thief([&] {
        static_cast<void>(ex.run_one());
        ex.wake();
    });
    other();
    ex.run_until([&] { return j.is_finished(); });
    thief.join();
    root.request_close();
    ex.run_until([&] { return root.is_closed(); });
    while (ex.run_one()) {}
}

task<int> one() { co_return 1; }
task<int> put(plain<int>& value, int v) {
    value.set(v);
    co_return v;
}
task<int> all_three(plain<int>& left, plain<int>& right) {
    auto [a, b, c] = co_await when_all(one(), put(left, 1), put(right, 2));
    co_return a + b + c + left.get() + right.get();
}
// Below a group of one, whose job keeps the scope of the three: so that no lock is taken where it ends.
task<> three_below(plain<int>& left, plain<int>& right, int& sum) {
    std::vector<task<int>> only;
    only.push_back(all_three(left, right));
    sum = (co_await when_all(std::move(only))).front();
}

// JOB-72: the second child runs elsewhere and has ended, and written what it wrote, when the third ends here.
MODEL(fork_model, stolen_and_done) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    plain<int> left(0);
    plain<int> right(0);
    int sum = 0;
    const job j = root.launch("three", three_below(left, right, sum));
    play(ex, root, j, [] {});
    check(sum == 7, "JOB-39: every result, and all that the children did");
}

task<int> shown_to(std::optional<thread>& other) {
    job me = co_await this_job();
    other.emplace([seen = std::move(me)]() mutable {
        seen.cancel();
        seen = job();
    });
    co_return 1;
}
task<int> not_cancelled() {
    const job me = co_await this_job();
    check(!me.cancel_requested(), "JOB-73: a cancel of one child reaches no other");
    co_return 1;
}
task<> shown_and_next(std::optional<thread>& other, int& sum) {
    auto [a, b] = co_await when_all(shown_to(other), not_cancelled());
    sum = a + b;
}
// JOB-73: a thread cancels the first child's job and drops its handle; then the job looks unobserved.
MODEL(fork_model, cancelled_and_let_go) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    std::optional<thread> other;
    int sum = 0;
    const job j = root.launch("two", shown_and_next(other, sum));
    ex.run_until([&] { return j.is_finished(); });
    other->join();
    root.request_close();
    ex.run_until([&] { return root.is_closed(); });
    check(sum == 2, "JOB-73: both return");
}

class counted {
public:
    explicit counted(atomic<int>& alive) noexcept : alive_(&alive) { alive_->fetch_add(1, mo::relaxed); }
    counted(counted&& other) noexcept : alive_(other.alive_) { alive_->fetch_add(1, mo::relaxed); }
    ~counted() { alive_->fetch_sub(1, mo::relaxed); }

private:
    atomic<int>* alive_;
};

task<int> count(counted) { co_return 1; }
task<> count_both(atomic<int>& alive, int& sum) {
    auto [a, b] = co_await when_all(count(counted(alive)), count(counted(alive)));
    sum = a + b;
}

// JOB-73: taken back, begun elsewhere or never, while everything is cancelled.
MODEL(fork_model, begun_vs_cancel) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    int sum = 0;
    const job j = root.launch("both", count_both(alive, sum));
    play(ex, root, j, [&] { root.cancel(); });
    check(alive.load(mo::relaxed) == 0, "JOB-73: every frame is gone, once");
    check((sum == 2) == (j.state() == job_state::completed), "JOB-39: all or nothing");
}

task<int> fail() {
    throw std::runtime_error("no");
    co_return 0;
}
task<> one_fails(atomic<int>& alive, bool first, bool& caught) {
    try {
        if (first) {
            co_await when_all(fail(), count(counted(alive)));
        } else {
            co_await when_all(count(counted(alive)), fail());
        }
    } catch (const std::runtime_error&) {
        caught = true;
    }
}

void failing(bool first) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    bool caught = false;
    const job j = root.launch("both", one_fails(alive, first, caught));
    play(ex, root, j, [] {});
    check(caught && j.state() == job_state::completed, "JOB-39: the failure is thrown");
    check(alive.load(mo::relaxed) == 0, "JOB-39: after the other one has ended");
}
// JOB-39: the first fails here while the second begins elsewhere or not at all.
MODEL(fork_model, failure_here) { failing(true); }
// JOB-39: the second fails, here or elsewhere.
MODEL(fork_model, failure_behind) { failing(false); }

task<> race_both(atomic<int>& alive, int& got) {
    auto won = co_await race(count(counted(alive)), count(counted(alive)));
    got = won.value();
}
// JOB-41: a race that both may win.
MODEL(fork_model, two_winners) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    atomic<int> alive{0};
    int got = 0;
    const job j = root.launch("race", race_both(alive, got));
    play(ex, root, j, [] {});
    check(got == 1 && j.state() == job_state::completed, "JOB-41: one wins");
    check(alive.load(mo::relaxed) == 0, "JOB-41: the other has ended");
}

task<> both_fail(std::size_t& failures) {
    try {
        static_cast<void>(co_await first_success(fail(), fail()));
    } catch (const all_failed& e) {
        for (const std::exception_ptr& each : e.errors()) {
            failures += each != nullptr ? 1 : 0;
        }
    }
}
// JOB-42: both fail, at the same time perhaps, and both are reported.
MODEL(fork_model, two_failures) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    std::size_t failures = 0;
    const job j = root.launch("race", both_fail(failures));
    play(ex, root, j, [] {});
    check(failures == 2, "JOB-42: every failure");
}

task<int> two() {
    auto [a, b] = co_await when_all(one(), one());
    co_return a + b;
}
task<> four(int& sum) {
    auto [a, b] = co_await when_all(two(), two());
    sum = a + b;
}
void nested(bool looked_at) {
    shared_stack ex;
    owned_scope root(ex, scope_options("root").report_failures());
    int sum = 0;
    const job j = root.launch("four", four(sum));
    play(ex, root, j, [&] {
        if (looked_at) {
            detail::node_ref<> last;
            visit(detail::task_access::core_of(root), 10,
                  [&](const node_description& d) noexcept { last = detail::node_ref<>::try_share(*d.target); });
        }
    });
    check(sum == 4 && j.state() == job_state::completed, "JOB-74: groups below groups");
}
// JOB-74: the inner group's scope is kept, and used again, or not, because the outer one's queue entry is gone.
MODEL(fork_model, nested_groups) { nested(false); }
// JOB-73: a visitor walks the tree and holds what is kept.
MODEL(fork_model, nested_vs_visitor) { nested(true); }

atomic<std::uint32_t> reported{0};
atomic<std::uint32_t> without_site{0};
task<> settle_three(bool& begun, bool& got) {
    auto [a, b, c] = co_await when_all_settled(
        one(),
        [](bool& began) -> task<int> {
            began = true;
            throw std::runtime_error("no");
            co_return 0;
        }(begun),
        one());
    got = b.has_error();
}
// JOB-87: a failure that was to be a result is one, or is reported where the group was written, also when the cancel comes last.
void settled_vs_cancel() {
    const auto before = set_failure_sink(+[](std::string_view, std::string_view, site where, std::exception_ptr) noexcept {
        reported.fetch_add(1, mo::relaxed);
        without_site.fetch_add(where.is_known() ? 0 : 1, mo::relaxed);
    });
    reported.store(0, mo::relaxed);
    without_site.store(0, mo::relaxed);
    {
        shared_stack ex;
        owned_scope root(ex, scope_options("root").report_failures());
        bool begun = false;
        bool got = false;
        const job j = root.launch("three", settle_three(begun, got));
        thread canceller([&] {
            j.cancel();
            ex.wake();
        });
        play(ex, root, j, [] {});
        canceller.join();
        check(reported.load(mo::relaxed) + (got ? 1U : 0U) == (begun ? 1U : 0U), "JOB-87: reported exactly once");
        check(without_site.load(mo::relaxed) == 0, "JOB-68: with its site");
    }
    set_failure_sink(before);
}
TEST(fork_model, settled_vs_cancel) { EXPECT_EXPLORED(two_switches, settled_vs_cancel); }

}  // namespace
