#include <roost/testing/explore.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <roost/base/atomic.hpp>

#include <cstdlib>
#include <mutex>

// On the native and jitter back ends a model is a stress test: the body runs many times on real threads.

namespace roost::inline ROOST_ABI {

using namespace seam;
namespace testkit {

namespace {

struct first_failure {
    small_mutex lock;
    bool failed = false;
    std::string text;
};

first_failure& failure_seen() {
    static first_failure instance;
    return instance;
}

}  // namespace

result explore(const options& how, const std::function<void()>& body) {
    first_failure& seen = failure_seen();
    {
        const std::lock_guard guard(seen.lock);
        seen.failed = false;
        seen.text.clear();
    }
    double limit = how.native_seconds;
    if (const char* text = std::getenv("ROOST_MODEL_SECONDS")) {
        limit = std::atof(text);
    }
    result r;
    const time_point start = now();
    for (std::uint32_t i = 0; i < how.native_runs && r.ok(); ++i) {
        body();
        ++r.executions;
        r.seconds = std::chrono::duration<double>(now() - start).count();
        const std::lock_guard guard(seen.lock);
        if (seen.failed) {
            r.verdict = verdict::assertion;
            r.message = seen.text;
        }
        if (r.seconds > limit) {
            break;
        }
    }
    return r;
}

void check(bool condition, const char* text, std::source_location at) {
    if (!condition) {
        first_failure& seen = failure_seen();
        const std::lock_guard guard(seen.lock);
        if (!seen.failed) {
            seen.failed = true;
            seen.text = std::string(text) + " (" + at.file_name() + ":" + std::to_string(at.line()) + ")";
        }
    }
}

std::uint32_t choose(std::uint32_t n, std::source_location) {
    return n == 0 ? 0 : static_cast<std::uint32_t>(random_u64() % n);
}

}  // namespace testkit
}  // namespace roost::inline ROOST_ABI

#endif  // !ROOST_SEAM_MODEL
