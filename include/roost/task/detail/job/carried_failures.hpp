#pragma once

// Failures that travel with an exception: those of the further children of the scope that threw it, of earlier attempts.
//
// An exception object cannot carry them, as it keeps its own type. So the job into which it is thrown remembers them beside
// it: until the job ends, which decides whether the exception was caught. A job that catches for ever must not keep all of
// them: when there are more than four, the oldest goes whose exception only this list holds. It was caught, and cannot come back.

#include <roost/task/detail/job/failure_list.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

class carried_failures {
public:
    static constexpr std::size_t exceptions_kept = 4;
    static constexpr std::size_t held_exceptions_kept = 100;

    carried_failures() noexcept = default;

    // `others` travel with `thrown` from now on. Throws std::bad_alloc; then nothing has changed. Returns what it had to drop though
    // its exception may come back: none, unless the program holds a hundred.
    [[nodiscard]] failure_list add(const std::exception_ptr& thrown, failure_list others);
    // Returns what travels with `thrown`, in order; empty if nothing does.
    [[nodiscard]] failure_list beside(const std::exception_ptr& thrown) const noexcept;
    // Removes and returns them.
    [[nodiscard]] failure_list take(const std::exception_ptr& thrown) noexcept;
    void clear() noexcept { all_.clear(); }

private:
    struct entry {
        std::exception_ptr thrown;
        failure_list others;
    };
    [[nodiscard]] std::vector<entry>::const_iterator find(const std::exception_ptr& thrown) const noexcept;

    std::vector<entry> all_;  // the latest last
};

}  // namespace roost::inline ROOST_ABI::detail
