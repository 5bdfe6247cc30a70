#pragma once

// How the library and its tests make guards and fill reports. Ships because templates need it; not API.

#include <roost/base/site.hpp>

#include <cstddef>
#include <utility>

namespace roost::inline ROOST_ABI {
class guard;
}

namespace roost::inline ROOST_ABI::detail {

class shutdown_node;
struct thread_guards;

struct shutdown_access {
    [[nodiscard]] static guard make_guard(shutdown_node& of, site where) noexcept;
    [[nodiscard]] static guard make_guard(shutdown_node& of, site where, thread_guards& mine) noexcept;
    // Returns a guard for a unit that the caller has already entered.
    [[nodiscard]] static guard adopt_guard(shutdown_node& of, site where, thread_guards& mine) noexcept;

    // Entry: a report_entry. Adds n members. add_at_least() takes the age as a lower bound.
    template <class Entry, class... Facts>
    static void add(Entry& to, std::size_t n, Facts&&... facts) {
        to.add(n, std::forward<Facts>(facts)...);
    }
    template <class Entry, class Age>
    static void add_at_least(Entry& to, std::size_t n, const Age& age) {
        to.add_at_least(n, age);
    }
};

}  // namespace roost::inline ROOST_ABI::detail
