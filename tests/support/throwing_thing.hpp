#pragma once

// User code that throws at its Nth call: functions that say call(), and things whose every copy and move does.

#include <atomic>
#include <stdexcept>

namespace throwing {

inline std::atomic<int> calls_left{-1};  // negative: never throw
inline std::atomic<int> alive{0};

class thrown : public std::runtime_error {
public:
    thrown() : std::runtime_error("on purpose") {}
};

inline void call() {
    if (calls_left.load() >= 0 && calls_left.fetch_sub(1) == 0) {
        throw thrown();
    }
}

class thing {
public:
    explicit thing(int v) : value(v) {
        call();
        ++alive;
    }
    thing(const thing& other) : value(other.value) {
        call();
        ++alive;
    }
    thing(thing&& other) : value(other.value) {  // NOLINT: may throw on purpose
        call();
        ++alive;
    }
    thing& operator=(const thing& other) {
        call();
        value = other.value;
        return *this;
    }
    ~thing() { --alive; }
    int value;
};

}  // namespace throwing
