// The executor runs a probe while its maker leaves: freed once, by whoever is last (SVC-61).

#include <roost/service/detail/liveness_probe.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::executor;
using roost::thread;
using roost::time_point;
using roost::work;
using roost::service::detail::liveness_probe;
using roost::testing::check;

class one_slot final : public executor {
public:
    bool post(work& w) noexcept override {
        held = &w;
        return true;
    }
    work* held = nullptr;
};

MODEL(liveness_probe_model, run_vs_leave) {
    one_slot where;
    liveness_probe& p = liveness_probe::make(where);
    p.probe(time_point());
    check(where.held != nullptr, "SVC-61: it was posted");
    thread runner([&] { where.held->run(); });
    p.leave();
    runner.join();
}

MODEL(liveness_probe_model, run_vs_probe) {
    one_slot where;
    liveness_probe& p = liveness_probe::make(where);
    p.probe(time_point());
    work* first = where.held;
    where.held = nullptr;
    thread runner([first] { first->run(); });
    p.probe(time_point());
    runner.join();
    if (where.held != nullptr) {
        where.held->run();
    }
    p.leave();
}

}  // namespace
