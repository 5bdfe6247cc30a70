// Callbacks that run on an executor: removing against posting and running.

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/callback.hpp>

#include "model_node.hpp"

namespace {

using roost::level;
using roost::token;
using roost::testing::check;
using namespace model_node;

// One slot; another thread takes it out and runs it.
class one_slot final : public roost::executor {
public:
    bool post(roost::ext::work& w) noexcept override {
        slot_.store(&w, roost::seam::mo::release);
        return true;
    }
    bool run() {
        roost::ext::work* w = slot_.exchange(nullptr, roost::seam::mo::acquire);
        if (w != nullptr) {
            w->run();
        }
        return w != nullptr;
    }

private:
    roost::seam::atomic<roost::ext::work*> slot_{nullptr};
};

// TREE-45: removal against running: runs or doesn't, but never after removal has returned, and nothing leaks.
MODEL_COMPLETE(callback_model, remove_vs_run) {
    one_slot exec;
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> state{0};
    {
        roost::callback registered(token(*root), level::cancel, exec, [&] { state.set(state.get() + 1); });
        root->cancel();
        roost::seam::thread runner([&exec] { exec.run(); });
        registered.reset();
        state.set(state.get() + 10);
        runner.join();
    }
    exec.run();
    check(state.get() == 10 || state.get() == 11, "TREE-45: at most once, never after removal");
}

// TREE-44: raising only posts.
MODEL_COMPLETE(callback_model, raise_only_posts) {
    one_slot exec;
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> calls{0};
    roost::callback registered(token(*root), level::cancel, exec, [&] { calls.set(calls.get() + 1); });
    roost::seam::thread canceller([root] { root->cancel(); });
    canceller.join();
    check(calls.get() == 0, "TREE-44: not inside raise");
    exec.run();
    check(calls.get() == 1, "TREE-44: on the executor");
}

// TREE-43: two operations, each of which takes its own lock to cancel the other and when it is cancelled. On the canceller's
// stack the callbacks would wait for each other's locks.
MODEL_COMPLETE(callback_model, cancel_each_other_under_locks) {
    one_slot first_exec;
    one_slot second_exec;
    roost::seam::small_mutex first_lock;
    roost::seam::small_mutex second_lock;
    ref first = make_root(probe::quiet);
    ref second = make_root(probe::quiet);
    int calls = 0;
    roost::callback first_told(token(*first), level::cancel, first_exec, [&] {
        first_lock.lock();
        ++calls;
        first_lock.unlock();
    });
    roost::callback second_told(token(*second), level::cancel, second_exec, [&] {
        second_lock.lock();
        ++calls;
        second_lock.unlock();
    });
    roost::seam::thread other([&] {
        second_lock.lock();
        first->cancel();
        second_lock.unlock();
    });
    first_lock.lock();
    second->cancel();
    first_lock.unlock();
    other.join();
    check(first_exec.run() && second_exec.run() && calls == 2, "TREE-43: both have been told");
}

// TREE-45: removal against the raise itself.
MODEL_COMPLETE(callback_model, remove_vs_raise) {
    one_slot exec;
    ref root = make_root(probe::quiet);
    roost::seam::plain<int> calls{0};
    roost::seam::thread canceller([root] { root->cancel(); });
    {
        roost::callback registered(token(*root), level::cancel, exec, [&] { calls.set(calls.get() + 1); });
    }
    canceller.join();
    exec.run();
    check(calls.get() == 0, "TREE-45: it never ran, so it never will");
}

}  // namespace
