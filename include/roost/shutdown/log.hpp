#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>
#include <roost/tree/level.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

// Log records of shutdown nodes. Nothing is recorded until a log function is set.

namespace roost::inline ROOST_ABI::observe {

enum class shutdown_event : std::uint8_t {
    raised,      // trace: a level was raised on this node
    completed,   // trace: the node is stopped, and no work is left in its subtree
    late_guard,  // debug: a guard was dropped after stop
};

enum class log_severity : std::uint8_t { trace, debug };

// One log record. node_name is valid only during the call.
struct shutdown_record {
    shutdown_record() noexcept : site() {}
    shutdown_record(shutdown_event what, log_severity how, std::string_view of, roost::site where, level at,
                    std::optional<duration> held) noexcept
        : event(what), severity(how), node_name(of), site(where), now(at), age(held) {}

    shutdown_event event = shutdown_event::raised;
    log_severity severity = log_severity::trace;
    std::string_view node_name;
    union {  // one value with two names: the site of the guard, or of the node
        roost::site site;
        [[deprecated("use site")]] roost::site made_at;
    };
    level now = level::running;
    std::optional<duration> age;  // of the guard, if recorded

    // Returns "guard of 'uploads' dropped after stop, made at upload.cpp:17, held for 2.5 s".
    [[nodiscard]] std::string to_string() const;
};

// Called by the thread that caused the record, with no lock held. Must be short and must not throw.
using shutdown_log = void (*)(void* context, const shutdown_record& record) noexcept;

// A log function and the context it is called with.
class shutdown_log_sink {
public:
    constexpr shutdown_log_sink() noexcept = default;
    // Takes a function, a closure without captures, or nullptr.
    template <class Function>
        requires std::is_convertible_v<Function, shutdown_log>
    constexpr shutdown_log_sink(Function log, void* with = nullptr) noexcept : function_(log), context_(with) {}

    [[nodiscard]] constexpr shutdown_log function() const noexcept { return function_; }
    [[nodiscard]] constexpr void* context() const noexcept { return context_; }

private:
    shutdown_log function_ = nullptr;
    void* context_ = nullptr;
};

// Sets the log function of the program; empty: logging is off. Returns the previous one. Not thread-safe: requires that no
// thread uses a shutdown node during the call.
shutdown_log_sink set_shutdown_log(shutdown_log_sink to) noexcept;
[[deprecated("use set_shutdown_log({log, context})")]] inline shutdown_log_sink set_shutdown_log(shutdown_log log,
                                                                                                 void* context) noexcept {
    return set_shutdown_log(shutdown_log_sink(log, context));
}

}  // namespace roost::inline ROOST_ABI::observe
