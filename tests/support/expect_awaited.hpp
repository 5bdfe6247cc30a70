#pragma once

// For coroutines: co_await must not stand in a macro of GoogleTest, which puts it into a condition (docs/compilers.md).

#include <gtest/gtest.h>

#include <source_location>

namespace awaiting {

template <class A, class B>
void expect_equal(const A& value, const B& expected, const char* note = "",
                  std::source_location where = std::source_location::current()) {
    if (!(value == expected)) {
        ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
            << testing::PrintToString(value) << " is not " << testing::PrintToString(expected) << ' ' << note;
    }
}
template <class A>
void expect_true(const A& value, const char* note = "", std::source_location where = std::source_location::current()) {
    if (!static_cast<bool>(value)) {
        ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "it is false " << note;
    }
}
template <class A>
void expect_false(const A& value, const char* note = "", std::source_location where = std::source_location::current()) {
    if (static_cast<bool>(value)) {
        ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "it is true " << note;
    }
}

}  // namespace awaiting
