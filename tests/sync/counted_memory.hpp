#pragma once

// The operator new of sync_test, which wait_operation_test.cpp replaces: it counts, and fails when it is told to.
// ThreadSanitizer brings operators of its own, so there nothing is counted and nothing fails.

namespace sync_testing {

extern const bool memory_is_counted;
extern long allocations;
extern thread_local long allocations_left;  // negative: never fail

}  // namespace sync_testing
