#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <roost/base/assert.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#if ROOST_ASAN
#include <sanitizer/lsan_interface.h>
#endif

// The driver: which searches are made, for how long, and what is done with a failure.

namespace roost::inline ROOST_ABI {

using namespace observe;
namespace testkit {

namespace {

using detail::engine;
using detail::failure;
using detail::planner;

engine* exploring = nullptr;

// One for the whole program: its stacks and arena keep their addresses, so equal choices give equal traces.
engine& the_engine() {
    static engine instance;
    return instance;
}

void on_panic(const char* sentence) { exploring->fail_with(verdict::panic, sentence); }

using roost::detail::real_seconds;

// Leaks on purpose what an abandoned execution had allocated with plain new.
class leak_sanitizer_pause {
public:
    leak_sanitizer_pause() noexcept {
#if ROOST_ASAN
        __lsan_disable();
#endif
    }
    leak_sanitizer_pause(const leak_sanitizer_pause&) = delete;
    leak_sanitizer_pause& operator=(const leak_sanitizer_pause&) = delete;
    ~leak_sanitizer_pause() {
#if ROOST_ASAN
        __lsan_enable();
#endif
    }
};

class driver {
public:
    driver(const options& how, const std::function<void()>& body) : how_(how), body_(body) {
        if (exploring != nullptr) {
            roost::detail::panic("explore() was called inside explore()");
        }
        first_step_ = engine_.steps();
        engine_.mutant = detail::mutation::from_environment();
        engine_.how.reuse = how.reuse;
        engine_.how.max_steps = how.max_steps;
        engine_.how.failing_allocations = how.failing_allocations;
        engine_.how.spurious_wakes = how.spurious_wakes;
        engine_.how.spurious_failures = how.spurious_failures;
        engine_.how.old_reads = how.old_reads;
        how_.whole = how.whole && std::getenv("ROOST_MUTANT") == nullptr;  // a mutant is found soon, or takes too long
        if (const char* limit = std::getenv("ROOST_MODEL_SECONDS")) {
            how_.seconds = how_.whole ? std::max(how.seconds, std::atof(limit)) : std::atof(limit);
        }
        if (const char* seed = std::getenv("ROOST_MODEL_SEED")) {
            how_.seed = std::strtoull(seed, nullptr, 0);
        }
        exploring = &engine_;
        previous_ = set_panic_handler(&on_panic);
    }
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;
    ~driver() {
        set_panic_handler(previous_);
        exploring = nullptr;
    }

    result run() {
        const double start = real_seconds();
        if (const char* text = std::getenv("ROOST_REPLAY"); text != nullptr && replay(text)) {
            result_.seconds = real_seconds() - start;
            return result_;
        }
        result_.complete = true;
        if (how_.memory != memory::weak) {
            search_in(false);
        }
        if (how_.memory != memory::sc && result_.ok()) {
            search_in(true);
        }
        result_.seconds = real_seconds() - start;
        if (!result_.ok()) {
            explain();
        }
        return result_;
    }

private:
    enum class outcome { complete, out_of_budget, failed };

    failure once() {
        const leak_sanitizer_pause pause;
        return engine_.run(body_);
    }

    void search_in(bool weak) {
        engine_.how.weak = weak;
        const bool fallback = how_.preemption_bound == bound_if_needed && how_.search == search::exhaustive && !how_.whole;
        const int first = how_.preemption_bound == bound_if_needed ? unbounded : how_.preemption_bound;
        outcome o = search_with(first, fallback ? how_.seconds * 0.7 : how_.seconds);
        int bound = first;
        if (o == outcome::out_of_budget && fallback) {
            bound = 3;
            o = search_with(bound, how_.seconds * 0.3);
        }
        result_.complete = result_.complete && o == outcome::complete;
        result_.cut = result_.cut || o == outcome::out_of_budget;
        if (bound != unbounded) {
            result_.bound = bound;
        }
    }

    outcome search_with(int bound, double budget) {
        planner::settings plan;
        plan.how = how_.search;
        plan.bound = bound;
        plan.seed = how_.seed;
        plan.pct_depth = how_.pct_depth;
        engine_.plan.begin_search(plan);
        const double end = real_seconds() + budget;
        for (std::uint64_t n = 0;; ++n) {
            failure f = once();
            ++result_.executions;
            result_.steps = engine_.steps() - first_step_;
            result_.redundant += engine_.plan.is_redundant() ? 1 : 0;
            if (f.verdict == verdict::ok && how_.recheck_every != 0 && n % how_.recheck_every == 0) {
                f = run_again();
            }
            if (f.verdict != verdict::ok) {
                note_failure(f);
                return outcome::failed;
            }
            if (engine_.heavy_barrier_found()) {
                engine_.plan.begin_search(plan);  // from now on barriers are ordered with everything
                continue;
            }
            if (!engine_.plan.advance()) {
                return outcome::complete;
            }
            if ((how_.max_executions != 0 && n + 1 >= how_.max_executions) || ((n & 255U) == 255 && real_seconds() > end)) {
                return outcome::out_of_budget;
            }
        }
    }

    // Determinism self-check: the same choices must give the same steps.
    failure run_again() {
        const std::uint64_t before = engine_.fingerprint();
        engine_.plan.repeat();
        failure f = once();
        ++result_.rechecked;
        if (f.verdict == verdict::ok && engine_.fingerprint() != before) {
            f = failure{verdict::nondeterminism, "the same choices led to other steps when they were made again"};
        }
        return f;
    }

    void note_failure(const failure& f) {
        result_.verdict = f.verdict;
        result_.message = f.message;
        result_.preemptions = engine_.plan.preemptions();
        found_ = engine_.plan.choices();
        result_.complete = false;
    }

    std::string mode_prefix() const { return std::string(how_.name) + (engine_.how.weak ? "/weak:" : "/sc:"); }

    // Looks for the same verdict with fewer preemptions, then repeats the schedule with a trace.
    void explain() {
        if (how_.minimise && result_.verdict != verdict::nondeterminism) {
            minimise();
        }
        result_.choices = mode_prefix() + found_;
        trace(found_);
    }

    void minimise() {
        const result original = result_;
        const double end = real_seconds() + 1.0;
        for (int bound = 0; bound < static_cast<int>(original.preemptions); ++bound) {
            planner::settings plan;
            plan.how = search::exhaustive;
            plan.bound = bound;
            engine_.plan.begin_search(plan);
            for (unsigned n = 0; n < 20000 && real_seconds() < end; ++n) {
                const failure f = once();
                if (f.verdict == original.verdict) {
                    result_.message = f.message;
                    result_.preemptions = engine_.plan.preemptions();
                    found_ = engine_.plan.choices();
                    return;
                }
                if (f.verdict != verdict::ok || !engine_.plan.advance()) {
                    break;
                }
            }
        }
    }

    failure trace(const std::string& choices) {
        planner::settings plan;
        engine_.plan.begin_search(plan);
        engine_.plan.follow(choices);
        engine_.record_trace(true);
        const failure f = once();
        for (const std::string& line : engine_.take_trace()) {
            result_.trace += line + "\n";
        }
        engine_.record_trace(false);
        return f;
    }

    // "name/weak:choices". A string for another model is ignored.
    bool replay(const char* text) {
        const std::string all = text;
        const std::size_t slash = all.rfind('/');
        const std::size_t colon = all.rfind(':');
        if (slash == std::string::npos || colon == std::string::npos || all.substr(0, slash) != how_.name) {
            return false;
        }
        engine_.how.weak = all.substr(slash + 1, colon - slash - 1) == "weak";
        found_ = all.substr(colon + 1);
        const failure f = trace(found_);
        result_.executions = 1;
        result_.steps = engine_.steps() - first_step_;
        result_.verdict = f.verdict;
        result_.message = f.message;
        result_.preemptions = engine_.plan.preemptions();
        result_.choices = mode_prefix() + engine_.plan.choices();
        std::fprintf(stderr, "%s\n",
                     result_.ok() ? (result_.summary() + "\n" + result_.trace).c_str() : result_.report(how_.name).c_str());
        return true;
    }

    options how_;
    const std::function<void()>& body_;
    engine& engine_ = the_engine();
    panic_handler previous_ = nullptr;
    result result_;
    std::string found_;
    std::uint64_t first_step_ = 0;
};

}  // namespace

result explore(const options& how, const std::function<void()>& body) {
    driver d(how, body);
    return d.run();
}

void check(bool condition, const char* text, std::source_location at) {
    if (!condition) {
        if (roost::detail::active_engine == nullptr) {
            roost::detail::panic(text, at);
        }
        roost::detail::active_engine->fail(text, at);
    }
}

std::uint32_t choose(std::uint32_t n, std::source_location at) {
    return roost::detail::active_engine == nullptr ? 0 : roost::detail::active_engine->choose(n, at);
}

}  // namespace testkit
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
