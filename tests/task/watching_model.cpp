// An observer is called only while it observes.
#include <roost/task/detail/job/watching.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using namespace roost::observe;
using namespace roost::seam;
using roost::detail::watching;
using roost::testing::check;

class fragile final : public job_observer {
public:
    void on_event(const job_event&) noexcept override { calls_.set(calls_.get() + 1); }
    [[nodiscard]] int calls() const { return calls_.get(); }

private:
    plain<int> calls_{0};
};

void tell(watching& all) {
    const reason none;
    all.tell(job_event(job_event_kind::finished, nullptr, "job", site(), job_state::completed, nullptr, "root", none));
}

// JOB-63: called while it leaves: either before, or not at all; what it did is visible to the thread that removed it.
MODEL(watching_model, come_and_go) {
    watching all;
    fragile observer;
    const std::size_t place = all.come(observer);
    thread teller([&] { tell(all); });
    all.go(place);
    check(observer.calls() <= 1, "JOB-63: one event, at most one call");
    teller.join();
}

// Two tell it while it leaves: it is out when both are.
class closing final : public job_observer {
public:
    void on_event(const job_event&) noexcept override {
        check(open.get(), "JOB-63: an observer that has left is not called");
    }
    plain<bool> open{true};
};

MODEL(watching_model, two_tellers) {
    watching all;
    closing observer;
    const std::size_t place = all.come(observer);
    thread one([&] { tell(all); });
    thread two([&] { tell(all); });
    all.go(place);
    observer.open.set(false);
    one.join();
    two.join();
}

// JOB-63: an observer that is called was registered before, fully constructed.
MODEL(watching_model, told_when_it_comes) {
    watching all;
    std::size_t place = watching::places;
    closing observer;
    observer.open.set(false);
    thread comer([&] {
        observer.open.set(true);
        place = all.come(observer);
    });
    tell(all);
    comer.join();
    all.go(place);
}

// Two come at once: each has a place of its own.
MODEL(watching_model, two_come) {
    watching all;
    fragile one;
    fragile two;
    std::size_t other_place = watching::places;
    thread other([&] { other_place = all.come(two); });
    const std::size_t place = all.come(one);
    other.join();
    check(place != other_place, "JOB-63: no place is given twice");
    tell(all);
    check(one.calls() == 1 && two.calls() == 1, "JOB-63: both are told");
    all.go(place);
    all.go(other_place);
    check(all.wanted() == 0, "JOB-62: nothing is asked for when nobody is left");
}

// The last one leaves while another comes: the one who comes is told from then on.
MODEL(watching_model, last_leaves_while_another_comes) {
    watching all;
    fragile one;
    fragile two;
    const std::size_t place = all.come(one);
    std::size_t other_place = watching::places;
    thread other([&] { other_place = all.come(two); });
    all.go(place);
    other.join();
    check((all.wanted() & watching::told) != 0, "JOB-63: somebody is there, so events are told");
    all.go(other_place);
}

// Counting is switched on while observers come and go: neither switch undoes the other.
MODEL(watching_model, count_vs_come_and_go) {
    watching all;
    fragile one;
    thread counter([&] { static_cast<void>(all.count(true)); });
    const std::size_t place = all.come(one);
    all.go(place);
    counter.join();
    check(all.wanted() == watching::counted, "JOB-61: jobs are counted, and nobody is told");
}

MODEL(watching_model, no_count_vs_come) {
    watching all;
    fragile one;
    static_cast<void>(all.count(true));
    thread counter([&] { static_cast<void>(all.count(false)); });
    const std::size_t place = all.come(one);
    counter.join();
    check(all.wanted() == watching::told, "JOB-61: jobs are not counted any more, and somebody is told");
    all.go(place);
}

MODEL(watching_model, count_vs_last_leaves_while_another_comes) {
    watching all;
    fragile one;
    fragile two;
    const std::size_t place = all.come(one);
    std::size_t other_place = watching::places;
    thread other([&] { other_place = all.come(two); });
    thread counter([&] { static_cast<void>(all.count(true)); });
    all.go(place);
    other.join();
    counter.join();
    check(all.wanted() == (watching::told | watching::counted), "JOB-61: both are asked for");
    all.go(other_place);
}

}  // namespace
