// How fast this CPU is right now, for `./bench`: one line in, one line out. Somebody else on the same core (a neighbour of a
// virtual machine, the other half of a hyper-threaded core) shows as a higher figure. The loop keeps every execution unit
// busy, so that it feels a neighbour at least as much as any subject does.
#include "harness.hpp"

#include <array>
#include <cstdint>

namespace {

constexpr unsigned slices = 16;
constexpr unsigned rounds_per_slice = 12'000;

// Eight chains that do not wait for each other, with loads and stores.
std::uint64_t work(std::array<std::uint64_t, 64>& memory) {
    std::array<std::uint64_t, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
    for (unsigned i = 0; i < rounds_per_slice; ++i) {
        for (unsigned k = 0; k < x.size(); ++k) {
            x[k] = (x[k] << 1) ^ memory[(i + k) % memory.size()];
        }
        memory[i % memory.size()] = x[i % x.size()];
    }
    std::uint64_t all = 0;
    for (auto const each : x) all ^= each;
    return all;
}

double nanoseconds() {
    static std::array<std::uint64_t, 64> memory{};
    std::vector<double> took;
    for (unsigned i = 0; i < slices; ++i) {
        auto const start = bench::clock::now();
        bench::keep(work(memory));
        took.push_back(bench::ns_since(start));
    }
    return bench::median_of(took);
}

}  // namespace

int main() {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
        std::printf("%.0f\n", nanoseconds());
        std::fflush(stdout);
    }
}
