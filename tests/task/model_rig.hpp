#pragma once

// What the models of this layer share.

#include <roost/base/failure_sink.hpp>
#include <roost/task/owned_scope.hpp>
#include <roost/testing/explore_gtest.hpp>
#include <roost/testing/manual_executor.hpp>

namespace model_rig {

// Whatever is made on first use has to be made before the first execution, or the first one differs from the others.
inline const bool warmed_up = [] {
    roost::set_failure_sink(nullptr);
    return true;
}();

// The last unit of something may go on any thread, which posts nothing: so every other thread says ex.wake() at its end.
template <class Done>
void run_until(roost::testing::manual_executor& ex, Done done) {
    ex.run_until_waiting(done);
}

inline void finish(roost::testing::manual_executor& ex, roost::owned_scope& root) {
    root.request_close();
    run_until(ex, [&] { return root.is_closed(); });
    ex.run_all();  // what was posted and came too late
}

}  // namespace model_rig
