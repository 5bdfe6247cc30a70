// The events of a job are reported one at a time, in order, and its request to cancel once.
#include <roost/task/detail/job/event_sequence.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::seam;
using roost::detail::event_sequence;
using roost::testing::check;

// What an observer has seen. Plain: two reporting threads at once, or one that does not see an earlier report, are a data race.
class seen_events {
public:
    void state(int s) {
        check(!requested_.get(), "JOB-102: no state before cancelling is reported after the request");
        check(last_.get() < s, "JOB-102: states are reported in order");
        last_.set(s);
    }
    void request() {
        check(!requested_.get(), "JOB-61: a request is reported once");
        check(raised.get(), "JOB-62: the thread that reports a request sees what the canceller did");
        requested_.set(true);
    }
    [[nodiscard]] bool has_request() const { return requested_.get(); }
    [[nodiscard]] int last() const { return last_.get(); }
    plain<bool> raised{false};

private:
    plain<int> last_{0};
    plain<bool> requested_{false};
};

void finish(event_sequence& events, seen_events& seen) {
    while (events.done()) {
        seen.request();
    }
}
void report(event_sequence& events, seen_events& seen, int state) {
    if (events.begin()) {
        seen.state(state);
        finish(events, seen);
    }
}
void cancel(event_sequence& events, seen_events& seen) {
    if (events.begin_cancel()) {
        seen.request();
        finish(events, seen);
    }
}

// The request comes while the creation is reported: it is reported after that.
MODEL(event_sequence_model, created_vs_cancel) {
    event_sequence events(true);
    seen_events seen;
    thread canceller([&] {
        seen.raised.set(true);
        cancel(events, seen);
    });
    seen.state(1);
    finish(events, seen);
    canceller.join();
    check(seen.has_request() && seen.last() == 1, "JOB-62: both are reported");
}

// It is reported by either thread, after `active` or instead of it.
MODEL(event_sequence_model, active_vs_cancel) {
    event_sequence events(false);
    seen_events seen;
    thread canceller([&] {
        seen.raised.set(true);
        cancel(events, seen);
    });
    report(events, seen, 1);
    canceller.join();
    check(seen.has_request(), "JOB-61: the request is reported");
}

MODEL(event_sequence_model, completing_vs_cancel) {
    event_sequence events(false);
    seen_events seen;
    thread canceller([&] {
        seen.raised.set(true);
        cancel(events, seen);
    });
    report(events, seen, 1);
    report(events, seen, 2);
    canceller.join();
    check(seen.has_request(), "JOB-61: the request is reported");
}

// Two threads cancel at once, for example a cancel and an abort: one of them reports it.
MODEL(event_sequence_model, two_cancels) {
    event_sequence events(false);
    seen_events seen;
    seen.raised.set(true);
    thread one([&] { cancel(events, seen); });
    thread two([&] { cancel(events, seen); });
    report(events, seen, 1);
    one.join();
    two.join();
    check(seen.has_request(), "JOB-61: the request is reported");
}

}  // namespace
