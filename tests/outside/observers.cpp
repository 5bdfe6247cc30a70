// An observer checks every transition it is told against the documented states, while jobs end, fail and are cancelled on threads.
#include <roost/roost.hpp>

#include <unistd.h>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>

using namespace roost;
using namespace std::chrono_literals;

namespace {

bool may_follow(job_state before, job_state after) {
    switch (before) {
        case job_state::fresh: return after == job_state::active || after == job_state::cancelling;
        case job_state::active: return after == job_state::completing || after == job_state::cancelling;
        case job_state::completing: return after == job_state::cancelling || is_final(after);
        case job_state::cancelling: return is_final(after);
        default: return false;
    }
}

class checker final : public observe::job_observer {
public:
    void on_event(const observe::job_event& e) noexcept override {
        const std::lock_guard guard(lock_);
        if (e.kind() == observe::job_event_kind::created) {
            states_[e.id()] = job_state::fresh;
        } else if (e.kind() == observe::job_event_kind::state_changed) {
            const job_state before = states_[e.id()];
            if (!may_follow(before, e.state())) {
                ++wrong;
                from = before;
                to = e.state();
            }
            states_[e.id()] = e.state();
        } else if (e.kind() == observe::job_event_kind::cancel_requested && is_final(states_[e.id()])) {
            ++late;
        }
    }
    int wrong = 0;
    int late = 0;
    job_state from = job_state::fresh;
    job_state to = job_state::fresh;

private:
    std::mutex lock_;
    std::map<const void*, job_state> states_;
};

task<int> value() { co_return 1; }
task<> waits(event& e) { co_await e.wait(); }
task<> fails(event& e) {
    co_await e.wait();
    throw std::runtime_error("planned");
}
task<> cancels_itself() {
    const job me = co_await this_job();
    me.cancel();
}
// Children that have ended are held while their scope is cancelled.
task<> round(scope& s, bool by_failure) {
    event go;
    event never;
    auto held = s.async("held", value());
    const job kept = s.launch("kept", cancels_itself());
    s.launch("waits", waits(never));
    if (by_failure) {
        s.launch("fails", fails(go));
    }
    co_await held.join();
    co_await kept.join();
    if (by_failure) {
        go.set();
        co_await never.wait();
    }
    s.cancel();
    co_await yield();
}
task<long> rounds() {
    long handled = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto ended = co_await as_outcome(with_scope(round, i % 2 == 0));
        handled += ended.has_error() || ended.is_cancelled() ? 1 : 0;
    }
    co_return handled;
}

}  // namespace

int main() {
    alarm(60);
    checker seen;
    observe::set_job_counting(true);
    const observe::job_counts before = observe::job_counts_now();
    {
        const observe::observation on(seen);
        if (run(rounds(), runtime_options().workers(1)) != 2000) {
            std::printf("observers: not every round ended as planned\n");
            return 1;
        }
    }
    const observe::job_counts after = observe::job_counts_now();
    if (seen.wrong != 0) {
        std::printf("observers: %d transitions that there are not, such as %s to %s\n", seen.wrong,
                    std::string(to_string(seen.from)).c_str(), std::string(to_string(seen.to)).c_str());
        return 1;
    }
    if (seen.late != 0) {
        std::printf("observers: %d cancels of jobs that had ended were told\n", seen.late);
        return 1;
    }
    // In each round "kept" and "waits" are cancelled, and nothing else.
    const auto cancels = after.cancels_requested() - before.cancels_requested();
    if (cancels != 4000) {
        std::printf("observers: %llu cancels were counted instead of 4000\n", static_cast<unsigned long long>(cancels));
        return 1;
    }
    return 0;
}
