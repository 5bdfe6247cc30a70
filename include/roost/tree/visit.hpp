#pragma once

#include <roost/tree/node.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::observe {

// One line of a report. Strings are valid during the visit.
struct node_description {
    static constexpr std::size_t most_callers = 14;

    node_description() noexcept : site() {}

    detail::node* target = nullptr;  // valid during the visit; node::try_share(*target) keeps it
    std::string_view kind;
    std::string_view name;
    union {  // one value with two names
        roost::site site;
        [[deprecated("use site")]] roost::site made_at;
    };
    std::uint32_t depth = 0;  // 0: the node the visit started at
    level now = level::running;
    level requested = level::running;
    bool ignoring = false;
    bool shield = false;
    bool closing = false;
    bool closed = false;
    std::uint32_t units = 0;  // of this node alone: its own, and one per child with work
    time_point deadline = no_deadline;

    // Filled in by the view (node_functions::describe).
    std::string_view state;                 // "running", "suspended", ...
    std::string_view waits_on;              // what the node is suspended in
    roost::site waits_at;                   // the line of the co_await that it is suspended at
    roost::site callers[most_callers];      // the lines of the frames that await that one, innermost first
    std::uint8_t caller_count = 0;
    bool has_more_callers = false;
    std::optional<time_point> started;      // to compute the age
    std::optional<time_point> deadline_clock;  // now, on the clock of the deadline; if empty: now()
    bool left_out = false;                  // kept for reuse; not shown in reports
    bool uninterruptible = false;           // cancel takes effect only when the awaited operation completes

    // For views whose text does not outlive the call: sets waits_on to `kind 'name'`, truncated if it is too long.
    void set_waits_on(std::string_view wait_kind, std::string_view wait_name) noexcept;
    [[deprecated("use set_waits_on()")]] void say_waits_on(std::string_view wait_kind, std::string_view wait_name) noexcept {
        set_waits_on(wait_kind, wait_name);
    }
    char text[96];
    std::string_view held_by;  // the owner of what it waits for; shown in brackets
    char owner_text[176];
    std::string_view trace;  // the traceparent of a suspended job (observe/trace_context.hpp)
    char trace_text[64];
};

struct visit_result {
    std::size_t visited = 0;
    bool complete = true;  // false: the budget was spent
};

// Calls fn for root and every live node below it, parents first. Describes at most `budget` nodes. Requires that the caller
// keeps root alive. Nodes added or removed during the call may or may not be visited. No lock is held during fn, so fn may
// change the tree. Thread-safe.
using visit_function = void (*)(void* context, const node_description& d) noexcept;
visit_result visit(const node& root, std::size_t budget, void* context, visit_function fn) noexcept;

// As above. If fn throws, it is not called again, and the exception is rethrown after the walk.
template <class Fn>
visit_result visit(const node& root, std::size_t budget,
                   Fn&& fn) noexcept(std::is_nothrow_invocable_v<Fn&, const node_description&>) {
    struct visitor {
        std::remove_reference_t<Fn>* fn;
        std::exception_ptr thrown;
    } mine{&fn, nullptr};
    const visit_result result = observe::visit(
        root, budget, &mine, +[](void* context, const node_description& d) noexcept {
            auto& my = *static_cast<visitor*>(context);
            try {
                if (my.thrown == nullptr) {
                    (*my.fn)(d);
                }
            } catch (...) {
                my.thrown = std::current_exception();
            }
        });
    if (mine.thrown != nullptr) {
        std::rethrow_exception(std::move(mine.thrown));
    }
    return result;
}

// Returns the tree as text, one indented line per node. A line has kind, name, site, state, reason, age, wait and units.
[[nodiscard]] std::string tree_to_string(const node& root, std::size_t budget = 1000);

}  // namespace roost::inline ROOST_ABI::observe
