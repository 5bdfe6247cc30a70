// The executor runs a probe while its maker leaves: freed once, by the last of the two (SVC-61).

#include <roost/service/detail/liveness_probe.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::executor;
using roost::time_point;
using roost::ext::work;
using roost::seam::plain;
using roost::seam::thread;
using roost::service::detail::liveness_probe;
using roost::testing::check;

// What it links work with belongs to it from post to run.
class one_slot final : public executor {
public:
    bool post(work& w) noexcept override {
        link.set(link.get() + 1);
        held = &w;
        return true;
    }
    void run(work& w) noexcept {
        static_cast<void>(link.get());
        w.run();
    }
    work* held = nullptr;
    plain<int> link{0};
};

MODEL(liveness_probe_model, run_vs_leave) {
    one_slot where;
    liveness_probe& p = liveness_probe::make(where);
    p.probe(time_point());
    check(where.held != nullptr, "SVC-61: it was posted");
    thread runner([&] { where.run(*where.held); });
    p.leave();
    runner.join();
}

MODEL(liveness_probe_model, run_vs_probe) {
    one_slot where;
    liveness_probe& p = liveness_probe::make(where);
    p.probe(time_point());
    work* first = where.held;
    where.held = nullptr;
    thread runner([&where, first] { where.run(*first); });
    p.probe(time_point());
    runner.join();
    if (where.held != nullptr) {
        where.run(*where.held);
    }
    p.leave();
}

// A look from elsewhere while it is posted: what has just been posted is not late.
MODEL(liveness_probe_model, look_while_probing) {
    one_slot where;
    liveness_probe& p = liveness_probe::make(where);
    const time_point now = time_point() + std::chrono::hours(1);
    thread prober([&] { p.probe(now); });
    check(p.is_live(now, std::chrono::seconds(10)), "SVC-61: posted just now");
    prober.join();
    where.run(*where.held);
    p.leave();
}

}  // namespace
