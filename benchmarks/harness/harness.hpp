// The measuring side of every C++ subject: register (case, subject), run one on request, print one line.
//
// Protocol, the same for every language (see benchmarks/README.md):
//   prog --list                                    -> "case<TAB>subject<TAB>kind" per line; kind is floor, ours or peer
//   prog --case CASE --subject SUBJECT --ms N      -> "CASE VALUE OPS"; VALUE is nanoseconds per operation unless the
//                                                     case table gives another unit
//   prog --case CASE --subject SUBJECT --ops N     -> the same after exactly N operations, for counting instructions
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

[[nodiscard]] inline double ns_since(clock::time_point start) {
    return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

// A cheap stamp for timing single operations, and what its unit is.
[[nodiscard]] inline std::uint64_t ticks() {
#if defined(__x86_64__)
    __builtin_ia32_lfence();   // neither earlier nor later work slips past the stamp
    std::uint64_t const now = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return now;
#else
    return static_cast<std::uint64_t>(clock::now().time_since_epoch().count());
#endif
}

[[nodiscard]] inline double ns_per_tick() {
    static double const value = [] {
        auto const start = clock::now();
        std::uint64_t const first = ticks();
        while (ns_since(start) < 2e6) {}
        std::uint64_t const last = ticks();
        return ns_since(start) / static_cast<double>(last - first);
    }();
    return value;
}

[[nodiscard]] inline double median_of(std::vector<double>& values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Keeps a value alive without storing it anywhere the optimiser can see through.
template <class T>
inline void keep(T const& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}
inline void clobber() { asm volatile("" : : : "memory"); }

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    clobber();
#endif
}

struct sample {
    double value = 0;
    std::uint64_t ops = 0;
};

struct budget {
    int ms = 50;
    std::uint64_t ops = 0;   // not 0: do exactly so many, once; for counting instructions
};

// Runs `batch(n)`, which performs n operations and returns the nanoseconds they took; grows n until a batch is a
// twentieth of the budget, then reports the batch at the 20th percentile: what is slower was disturbed by somebody else.
// The growing phase is the warm-up. When the batches turn out far shorter than they should be, disturbances have ended it
// too early, and it goes on.
template <class Batch>
[[nodiscard]] sample measure(budget b, Batch batch, std::uint64_t first = 1) {
    if (b.ops != 0) return {batch(b.ops) / static_cast<double>(b.ops), b.ops};
    double const slice = b.ms * 1e6 / 20;
    std::uint64_t n = first;
    for (int attempt = 0;; ++attempt) {
        double took = batch(n);
        for (bool sure = false; n < (std::uint64_t{1} << 40);) {
            if (took >= slice) {
                if (sure) break;
                sure = true;   // one long batch may have been a disturbance: believe the second
                took = batch(n);
                continue;
            }
            sure = false;
            double const want = took > 0 ? slice / (took / static_cast<double>(n)) : 1e18;
            n = std::max(n + 1, static_cast<std::uint64_t>(std::min(want * 1.05, static_cast<double>(n) * 16)));
            took = batch(n);
        }
        std::vector<double> per_op;
        std::uint64_t ops = 0;
        auto const start = clock::now();
        while (per_op.size() < 5 || (ns_since(start) < b.ms * 1e6 && per_op.size() < 64)) {
            per_op.push_back(batch(n) / static_cast<double>(n));
            ops += n;
            if (per_op.size() >= 3 && ns_since(start) > 3 * b.ms * 1e6) break;
        }
        std::sort(per_op.begin(), per_op.end());
        double const value = per_op[per_op.size() / 5];
        if (value * static_cast<double>(n) >= slice / 4 || attempt == 3) return {value, ops};
    }
}

// One thread; body(n) does n operations.
template <class Body>
[[nodiscard]] sample per_op(budget b, Body body) {
    return measure(b, [&](std::uint64_t n) {
        auto const start = clock::now();
        body(n);
        return ns_since(start);
    });
}

// `count` threads released together; body(index, n) does n operations. Value: wall time / all operations.
template <class Body>
[[nodiscard]] sample per_op_threads(budget b, unsigned count, Body body) {
    sample s = measure(
        b,
        [&](std::uint64_t n) {
            std::atomic<unsigned> ready{0};
            std::atomic<bool> go{false};
            std::vector<std::thread> threads;
            for (unsigned i = 0; i < count; ++i) {
                threads.emplace_back([&, i] {
                    ready.fetch_add(1);
                    while (!go.load(std::memory_order_acquire)) relax();
                    body(i, n);
                });
            }
            while (ready.load() != count) std::this_thread::yield();
            auto const start = clock::now();
            go.store(true, std::memory_order_release);
            for (auto& t : threads) t.join();
            return ns_since(start) / count;
        },
        1000);   // fewer would measure how the threads are scheduled
    s.ops *= count;
    return s;
}

using runner = sample (*)(budget);

struct entry {
    char const* name;
    char const* subject;
    char const* kind;
    runner run;
};

inline std::vector<entry>& entries() {
    static std::vector<entry> all;
    return all;
}

struct registration {
    registration(char const* name, char const* subject, char const* kind, runner run) {
        entries().push_back({name, subject, kind, run});
    }
};

inline int main(int argc, char** argv) {
    // glibc leaves out atomic instructions while a process has one thread; a service never runs like that.
    std::thread([] { ::pause(); }).detach();
    std::string name;
    std::string subject;
    budget b;
    for (int i = 1; i < argc; ++i) {
        std::string const arg = argv[i];
        if (arg == "--list") {
            for (auto const& e : entries()) std::printf("%s\t%s\t%s\n", e.name, e.subject, e.kind);
            std::fflush(stdout);
            std::_Exit(0);
        }
        if (i + 1 == argc) break;
        if (arg == "--case")
            name = argv[++i];
        else if (arg == "--subject")
            subject = argv[++i];
        else if (arg == "--ms")
            b.ms = std::max(1, std::atoi(argv[++i]));
        else if (arg == "--ops")
            b.ops = std::strtoull(argv[++i], nullptr, 10);
    }
    for (auto const& e : entries()) {
        if (name != e.name || (!subject.empty() && subject != e.subject)) continue;
        sample const s = e.run(b);
        std::printf("%s %.4f %llu\n", e.name, s.value, static_cast<unsigned long long>(s.ops));
        std::fflush(stdout);
        std::_Exit(0);
    }
    std::fprintf(stderr, "no such case; try --list, or --case CASE --subject SUBJECT --ms N\n");
    return 2;
}

} // namespace bench

#define BENCH_CAT2(a, b) a##b
#define BENCH_CAT(a, b) BENCH_CAT2(a, b)
#define BENCH_CASE(name, subject, kind)                                                                 \
    static bench::sample BENCH_CAT(bench_run_, __LINE__)(bench::budget b);                              \
    static bench::registration const BENCH_CAT(bench_reg_, __LINE__){name, subject, kind,               \
                                                                     &BENCH_CAT(bench_run_, __LINE__)}; \
    static bench::sample BENCH_CAT(bench_run_, __LINE__)([[maybe_unused]] bench::budget b)
#define BENCH_OURS(name) BENCH_CASE(name, "roost", "ours")
#define BENCH_PEER(name, subject) BENCH_CASE(name, subject, "peer")
#define BENCH_FLOOR(name) BENCH_CASE("floor/" name, name, "floor")
