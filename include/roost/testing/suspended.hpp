#pragma once

#include <roost/task/scope.hpp>
#include <roost/testing/names.hpp>
#include <roost/testing/virtual_time.hpp>
#include <roost/tree/visit.hpp>

namespace roost::inline ROOST_ABI::testkit {

// Makes the leak report of `time` name every job that is left below `s` when the test ends. Such a job is suspended in a
// wait that never completes, or never joined. Call it once per root, right after its construction.
inline void watch(virtual_time& time, const scope& s) {
    time.add_reporter(
        [root = detail::node_ref<detail::scope_core>::share(detail::task_access::core_of(s))]() -> std::string {
            const std::size_t units = root->work_in_subtree();
            return units == 0 ? std::string()
                              : std::to_string(units) + " unit(s) of work in this tree:\n" + observe::tree_to_string(*root);
        });
}

}  // namespace roost::inline ROOST_ABI::testkit
