#pragma once

// Bytes of a fuzzer as a sequence of choices. A run that runs out of bytes ends.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace testing_support {

class fuzz_input {
public:
    fuzz_input(const std::uint8_t* data, std::size_t size) noexcept : at_(data), end_(data + size) {}
    [[nodiscard]] bool is_over() const noexcept { return at_ == end_; }
    // Zero when it is over.
    std::uint8_t byte() noexcept { return is_over() ? std::uint8_t(0) : *at_++; }
    std::size_t below(std::size_t n) noexcept { return n == 0 ? 0 : byte() % n; }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

// Ends the run so that the fuzzer keeps the input.
inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "fuzz: %s\n", what);
        std::abort();
    }
}

}  // namespace testing_support
