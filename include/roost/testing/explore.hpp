#pragma once

// The explorer: runs a small concurrent program repeatedly, each time with a different interleaving. It ends when every
// interleaving that can matter has been tried (docs/guide/testing.md).
//
//   using namespace roost;
//   auto r = testing::explore({.name = "join"}, [] {
//       seam::atomic<int> ready{0};
//       seam::thread other([&] { ready.store(1, seam::mo::release); });
//       other.join();
//       testing::check(ready.load(seam::mo::acquire) == 1, "the store is visible after join");
//   });
//
// The body builds fresh state, starts roost::seam::thread objects, joins them and checks. It must be deterministic except for
// what goes through the seam and choose(). On the native and jitter back ends the same call runs the body many times on
// real threads.

#include <roost/base/config.hpp>
#include <roost/testing/names.hpp>

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

namespace roost::inline ROOST_ABI {
namespace testkit {

enum class verdict : std::uint8_t {
    ok,
    assertion,
    data_race,
    use_after_free,
    double_free,
    leak,
    deadlock,
    livelock,
    nondeterminism,
    panic,
    exception,
};
[[nodiscard]] const char* to_string(verdict v) noexcept;

enum class search : std::uint8_t {
    exhaustive,  // every interleaving up to the order of independent steps (DPOR)
    dfs,  // every interleaving, no reduction: slow, for checking the explorer itself
    random,  // uniformly random walk
    pct,  // random priorities with a few change points
};

enum class memory : std::uint8_t { sc, weak, both };  // both: sequentially consistent first, then store histories
enum class reuse : std::uint8_t { quarantine, reissue };  // freed memory: never reused, or handed out again at once

inline constexpr int unbounded = -1;
inline constexpr int bound_if_needed = -2;  // unbounded; if time runs out, again with at most three preemptions

struct options {
    const char* name = "";
    testkit::search search = testkit::search::exhaustive;
    testkit::memory memory = testkit::memory::both;
    testkit::reuse reuse = testkit::reuse::quarantine;
    int preemption_bound = bound_if_needed;
    double seconds = 5;  // per memory mode; ROOST_MODEL_SECONDS overrides
    bool whole = false;  // never bounded, and ROOST_MODEL_SECONDS can only lengthen it: for small models
    std::uint64_t max_executions = 0;  // 0: no limit
    std::uint32_t max_steps = 5000;  // an execution longer than this is a livelock
    std::uint64_t seed = 0;  // random and pct; ROOST_MODEL_SEED overrides
    std::uint32_t pct_depth = 3;
    std::uint32_t failing_allocations = 0;  // how many allocations per execution may be chosen to throw std::bad_alloc
    bool spurious_wakes = false;  // waits may return early, as a choice
    bool spurious_failures = false;  // compare_exchange_weak may fail for no reason, as a choice
    std::uint8_t old_reads = 2;  // how often in a row a thread may read an old value of a word, in weak memory
    bool minimise = true;  // searches for the failure with fewer preemptions
    std::uint32_t recheck_every = 128;  // determinism self-check: every n-th execution runs twice (0: never)
    std::uint32_t native_runs = 2000;  // native and jitter back ends: how often, and for how long at most
    double native_seconds = 0.5;
};

struct result {
    testkit::verdict verdict = testkit::verdict::ok;
    bool complete = false;  // every interleaving was tried (within `bound`, if that is not `unbounded`)
    int bound = unbounded;  // preemption bound of the completed search
    bool cut = false;  // a limit on time or executions ended the search
    std::uint64_t executions = 0;
    std::uint64_t redundant = 0;  // executions that the reduction recognised as repetitions only after they had begun
    std::uint64_t steps = 0;
    std::uint64_t rechecked = 0;
    std::uint32_t preemptions = 0;  // of the failing execution, after minimising
    double seconds = 0;
    std::string message;  // what is wrong, in one sentence
    std::string choices;  // for ROOST_REPLAY
    std::string trace;  // the failing execution, step by step

    [[nodiscard]] bool ok() const noexcept { return verdict == testkit::verdict::ok; }
    // Returns one line: verdict, executions, rate, completeness.
    [[nodiscard]] std::string summary() const;
    // Returns the whole report of a failure: sentence, replay string, explanation, trace.
    [[nodiscard]] std::string report(const char* name) const;
};

result explore(const options& how, const std::function<void()>& body);

// Ends the execution with the verdict `assertion` if the condition does not hold.
void check(bool condition, const char* text = "check failed", std::source_location at = std::source_location::current());

// Returns a number below n. The search tries all of them; the native and jitter back ends return a random one.
[[nodiscard]] std::uint32_t choose(std::uint32_t n, std::source_location at = std::source_location::current());

}  // namespace testkit
}  // namespace roost::inline ROOST_ABI
