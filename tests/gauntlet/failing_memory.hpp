#pragma once

// The program's operator new, which failing_memory_test.cpp replaces: the Nth allocation of a thread fails.

#include <atomic>

namespace gauntlet {

extern thread_local long allocations_left;  // negative: never fail
extern thread_local long allocations;       // of this thread
extern std::atomic<long> outstanding;       // blocks of the program

}  // namespace gauntlet
