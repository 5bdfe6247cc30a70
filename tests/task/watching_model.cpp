// An observer is called only while it observes.
#include <roost/task/detail/watching.hpp>

#include "model_rig.hpp"

namespace {

using namespace roost;
using roost::detail::watching;
using roost::testing::check;

class fragile final : public job_observer {
public:
    void told(const job_event&) noexcept override { calls_.set(calls_.get() + 1); }
    [[nodiscard]] int calls() const { return calls_.get(); }

private:
    plain<int> calls_{0};
};

// JOB-63: told while it leaves: either before, or not at all; what it was told is visible to whoever took it away.
MODEL(watching_model, come_and_go) {
    watching all;
    fragile observer;
    const std::size_t place = all.come(observer);
    const reason none;
    thread teller([&] {
        all.tell(job_event(job_event_kind::finished, nullptr, "job", site(), job_state::completed, nullptr, "root", none));
    });
    all.go(place);
    check(observer.calls() <= 1, "JOB-63: one event, at most one call");
    teller.join();
}

}  // namespace
