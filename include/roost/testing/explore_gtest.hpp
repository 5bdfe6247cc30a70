#pragma once

// The explorer from GoogleTest:
//
//   MODEL(event, lost_wake) { ...body of explore()... }          a test that fails on any verdict but ok
//   MODEL_COMPLETE(event, lost_wake) { ... }                     and that fails as well unless every interleaving was tried
//   EXPECT_EXPLORED({.memory = memory::sc}, [] { ... });         explores inside a test, with options
//   EXPECT_FOUND(verdict::deadlock, {}, [] { ... });             a planted bug: model back end only, skipped elsewhere
//
// The outcome is recorded as test properties, so that a report can list the models that were searched exhaustively.

#include <roost/testing/explore.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace roost::inline ROOST_ABI {
namespace testkit {

inline std::string current_test_name() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    return info == nullptr ? "model" : std::string(info->test_suite_name()) + "." + info->name();
}

inline result explore_in_test(options how, const std::function<void()>& body) {
    const std::string name = current_test_name();
    if (*how.name == '\0') {
        how.name = name.c_str();
    }
    result r = explore(how, body);
    ::testing::Test::RecordProperty("executions", std::to_string(r.executions));
    ::testing::Test::RecordProperty("complete", r.complete ? (r.bound == unbounded ? "yes" : "bounded") : "no");
    std::printf("  %s: %s\n", how.name, r.summary().c_str());
    return r;
}

// Explores the body. Fails the test, with a report that can be replayed, if any interleaving misbehaves.
inline result explore_all(const std::function<void()>& body, const options& how = {}) {
    result r = explore_in_test(how, body);
    if (!r.ok()) {
        ADD_FAILURE() << r.report(*how.name == '\0' ? current_test_name().c_str() : how.name);
    } else if (how.whole && std::getenv("ROOST_MUTANT") == nullptr && (r.cut || r.bound != unbounded)) {
        ADD_FAILURE() << "not every interleaving was tried: " << r.summary();
    }
    return r;
}

// For models that are small enough to be searched completely, within 60 seconds.
inline result explore_whole(const std::function<void()>& body) { return explore_all(body, {.seconds = 60, .whole = true}); }

}  // namespace testkit
}  // namespace roost::inline ROOST_ABI

#define EXPECT_EXPLORED(...) ::roost::testkit::detail_gtest::expect_ok(__VA_ARGS__)
#define EXPECT_FOUND(expected, ...) ::roost::testkit::detail_gtest::expect_found(expected, __VA_ARGS__)

#define MODEL(suite, name)                                                             \
    static void roost_model_##suite##_##name();                                        \
    TEST(suite, name) { ::roost::testkit::explore_all(roost_model_##suite##_##name); } \
    static void roost_model_##suite##_##name()

#define MODEL_COMPLETE(suite, name)                                                      \
    static void roost_model_##suite##_##name();                                          \
    TEST(suite, name) { ::roost::testkit::explore_whole(roost_model_##suite##_##name); } \
    static void roost_model_##suite##_##name()

namespace roost::inline ROOST_ABI {
namespace testkit::detail_gtest {

inline result expect_ok(const options& how, const std::function<void()>& body) { return explore_all(body, how); }
inline result expect_ok(const std::function<void()>& body) { return explore_all(body); }

inline result expect_found([[maybe_unused]] verdict expected, [[maybe_unused]] const options& how,
                           [[maybe_unused]] const std::function<void()>& body) {
#if defined(ROOST_SEAM_MODEL)
    result r = explore_in_test(how, body);
    EXPECT_STREQ(to_string(r.verdict), to_string(expected)) << r.report(current_test_name().c_str());
    return r;
#else
    return result{};  // on real threads the bug may not occur, and may crash the test when it does
#endif
}

}  // namespace testkit::detail_gtest
}  // namespace roost::inline ROOST_ABI
