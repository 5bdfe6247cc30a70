#pragma once

// User code whose Nth call throws, beside failing_memory.hpp.

#include "failing_memory.hpp"

#include <stdexcept>
#include <utility>

namespace gauntlet {

inline thread_local long calls_left = -1;  // negative: never fail

struct planted : std::runtime_error {
    planted() : std::runtime_error("planted") {}
};

// What every piece of user code calls.
inline void user() {
    if (calls_left >= 0 && calls_left-- == 0) {
        throw planted();
    }
}

// Nothing fails while one of these lives.
class calm {
public:
    calm() : memory_(std::exchange(allocations_left, -1)), calls_(std::exchange(calls_left, -1)) {}
    calm(const calm&) = delete;
    calm& operator=(const calm&) = delete;
    ~calm() {
        allocations_left = memory_;
        calls_left = calls_;
    }

private:
    long memory_;
    long calls_;
};

}  // namespace gauntlet
