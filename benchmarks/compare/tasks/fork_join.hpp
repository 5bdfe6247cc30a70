// The three fork-join problems, at sizes that take milliseconds, and their answers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace fork_join {

inline constexpr unsigned fib_of = 22;            // 28 656 forks
inline constexpr std::uint64_t fib_is = 17711;
inline constexpr unsigned skynet_depth = 5;       // 111 110 children
inline constexpr std::uint64_t skynet_is = 4999950000;
inline constexpr unsigned queens = 8;             // 2 056 placements
inline constexpr unsigned nqueens_is = 92;

inline void expect(std::uint64_t got, std::uint64_t want) {
    if (got != want) {
        std::fprintf(stderr, "wrong answer: %llu\n", static_cast<unsigned long long>(got));
        std::abort();
    }
}

// Columns of the queens in the rows filled so far.
class board {
public:
    [[nodiscard]] bool is_full() const { return rows_ == queens; }
    [[nodiscard]] bool is_free(unsigned column) const {
        for (unsigned row = 0; row < rows_; ++row) {
            unsigned const other = columns_[row];
            unsigned const away = rows_ - row;
            if (other == column || other + away == column || column + away == other) return false;
        }
        return true;
    }
    [[nodiscard]] board with(unsigned column) const {
        board next = *this;
        next.columns_[next.rows_++] = static_cast<unsigned char>(column);
        return next;
    }

private:
    unsigned char columns_[queens] = {};
    unsigned char rows_ = 0;
};

} // namespace fork_join
