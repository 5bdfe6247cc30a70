#pragma once

// One deliberate weakening of the code under test, chosen by ROOST_MUTANT (tools/mutate lists them):
//
//   event.hpp:42-43:compare_exchange:success:relaxed     the order of the operation at these lines
//   event.hpp:42-43:compare_exchange:failure:relaxed
//   event.hpp:42-43:fetch_add:split                      a load, then a store: no longer one step
//   event.hpp:42-43:compare_exchange:blind               stores whatever the word holds
//   event.hpp:57-57:wake_on:skip                         does nothing
//   #3                                                   the third guarded statement of a rewritten source file

#include "explore_types.hpp"

#include <string>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

class mutation {
public:
    enum class what : std::uint8_t { none, success, failure, split, blind, skip };

    // Reads ROOST_MUTANT. An invalid text ends the program, so that no mutant survives by a typing error.
    static mutation from_environment();

    [[nodiscard]] bool is_active() const noexcept { return what_ != what::none; }
    [[nodiscard]] bool hits(what kind, model_op op, model_site at) const noexcept {
        return what_ == kind && op == op_ && at.line() >= first_ && at.line() <= last_ && is_in(at.file_name());
    }
    [[nodiscard]] std::memory_order order(what kind, model_op op, std::memory_order written, model_site at) const noexcept {
        return is_active() && hits(kind, op, at) ? order_ : written;
    }

private:
    [[nodiscard]] bool is_in(const char* path) const noexcept;

    what what_ = what::none;
    model_op op_ = model_op::finish;
    std::string file_;
    unsigned first_ = 0;
    unsigned last_ = 0;
    std::memory_order order_ = std::memory_order_relaxed;
};

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI
