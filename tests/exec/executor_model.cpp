// The fallback executor is found by threads that did not install it (BASE-23).

#include <roost/base/atomic.hpp>
#include <roost/exec/executor.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::testing::check;

class counting_executor final : public roost::executor {
public:
    bool post(roost::ext::work&) noexcept override {
        check(ready.get(), "BASE-23: whoever finds the fallback sees it fully made");
        taken.set(taken.get() + 1);
        return true;
    }
    roost::seam::plain<bool> ready{false};
    roost::seam::plain<int> taken{0};
};

class closed_executor final : public roost::executor {
public:
    bool post(roost::ext::work&) noexcept override { return false; }
};

MODEL(executor_model, fallback_visible) {
    counting_executor fallback;
    counting_executor first;
    first.ready.set(true);
    roost::ext::set_fallback_executor(first);
    roost::ext::work w([](roost::ext::work&) noexcept {});
    roost::seam::thread poster([&] {
        closed_executor closed;
        roost::ext::post_or_fall_back(closed, w, "model");
    });
    fallback.ready.set(true);
    const roost::executor_ref replaced = roost::ext::set_fallback_executor(fallback);
    check(replaced == roost::executor_ref(first), "the executor it replaces is returned");
    poster.join();
    roost::ext::set_fallback_executor({});
    check(first.taken.get() + fallback.taken.get() == 1, "BASE-23: refused work is taken exactly once");
}

// Two install one at once: each gets back what it replaced, fully made, and none is lost.
MODEL(executor_model, two_install) {
    counting_executor theirs;
    counting_executor mine;
    roost::executor_ref seen_by_them;
    roost::seam::thread other([&] {
        theirs.ready.set(true);
        seen_by_them = roost::ext::set_fallback_executor(theirs);
    });
    const roost::executor_ref seen = roost::ext::set_fallback_executor(mine);
    if (seen == roost::executor_ref(theirs)) {
        check(theirs.ready.get(), "BASE-23: whoever is given the one before sees it fully made");
    }
    other.join();
    const roost::executor_ref last = roost::ext::set_fallback_executor({});
    const bool mine_first = last == roost::executor_ref(theirs) && seen_by_them == roost::executor_ref(mine) && !seen;
    const bool theirs_first = last == roost::executor_ref(mine) && seen == roost::executor_ref(theirs) && !seen_by_them;
    check(mine_first || theirs_first, "BASE-23: each is given back once, to whoever replaced it");
}

}  // namespace
