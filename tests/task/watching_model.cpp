// An observer is called only between its add_observer() and the end of its remove_observer().
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

void notify(watching& all) {
    const reason none;
    all.notify(job_event(job_event_kind::finished, nullptr, "job", site(), job_state::completed, nullptr, "root", none));
}

// JOB-63: an observer is notified while it is removed: before that, or not at all. Its effects are visible to the thread that
// removed it.
MODEL(watching_model, add_and_remove) {
    watching all;
    fragile observer;
    const std::size_t slot = all.add_observer(observer);
    thread notifier([&] { notify(all); });
    all.remove_observer(slot);
    check(observer.calls() <= 1, "JOB-63: one event, at most one call");
    notifier.join();
}

// Two threads notify an observer while it is removed: its slot is free when both are out of it.
class closing final : public job_observer {
public:
    void on_event(const job_event&) noexcept override {
        check(open.get(), "JOB-63: an observer that was removed is not called");
    }
    plain<bool> open{true};
};

MODEL(watching_model, two_notifiers) {
    watching all;
    closing observer;
    const std::size_t slot = all.add_observer(observer);
    thread one([&] { notify(all); });
    thread two([&] { notify(all); });
    all.remove_observer(slot);
    observer.open.set(false);
    one.join();
    two.join();
}

// JOB-63: an observer that is called was added before, fully constructed.
MODEL(watching_model, notified_when_added) {
    watching all;
    std::size_t slot = watching::slots;
    closing observer;
    observer.open.set(false);
    thread adder([&] {
        observer.open.set(true);
        slot = all.add_observer(observer);
    });
    notify(all);
    adder.join();
    all.remove_observer(slot);
}

// Two observers are added at once: each has a slot of its own.
MODEL(watching_model, two_added) {
    watching all;
    fragile one;
    fragile two;
    std::size_t other_slot = watching::slots;
    thread other([&] { other_slot = all.add_observer(two); });
    const std::size_t slot = all.add_observer(one);
    other.join();
    check(slot != other_slot, "JOB-63: no slot is taken twice");
    notify(all);
    check(one.calls() == 1 && two.calls() == 1, "JOB-63: both are notified");
    all.remove_observer(slot);
    all.remove_observer(other_slot);
    check(all.wanted() == 0, "JOB-62: nothing is requested when no observer is left");
}

// The last observer is removed while another is added: the other is notified from then on.
MODEL(watching_model, last_removed_while_another_is_added) {
    watching all;
    fragile one;
    fragile two;
    const std::size_t slot = all.add_observer(one);
    std::size_t other_slot = watching::slots;
    thread other([&] { other_slot = all.add_observer(two); });
    all.remove_observer(slot);
    other.join();
    check((all.wanted() & watching::notified) != 0, "JOB-63: an observer is left, so events are reported");
    all.remove_observer(other_slot);
}

// Counting is switched on while an observer is added and removed: neither switch undoes the other.
MODEL(watching_model, count_vs_add_and_remove) {
    watching all;
    fragile one;
    thread counter([&] { static_cast<void>(all.count(true)); });
    const std::size_t slot = all.add_observer(one);
    all.remove_observer(slot);
    counter.join();
    check(all.wanted() == watching::counted, "JOB-61: jobs are counted, and no observer is notified");
}

MODEL(watching_model, no_count_vs_add) {
    watching all;
    fragile one;
    static_cast<void>(all.count(true));
    thread counter([&] { static_cast<void>(all.count(false)); });
    const std::size_t slot = all.add_observer(one);
    counter.join();
    check(all.wanted() == watching::notified, "JOB-61: jobs are not counted any more, and an observer is notified");
    all.remove_observer(slot);
}

MODEL(watching_model, count_vs_last_removed_while_another_is_added) {
    watching all;
    fragile one;
    fragile two;
    const std::size_t slot = all.add_observer(one);
    std::size_t other_slot = watching::slots;
    thread other([&] { other_slot = all.add_observer(two); });
    thread counter([&] { static_cast<void>(all.count(true)); });
    all.remove_observer(slot);
    other.join();
    counter.join();
    check(all.wanted() == (watching::notified | watching::counted), "JOB-61: both are requested");
    all.remove_observer(other_slot);
}

}  // namespace
