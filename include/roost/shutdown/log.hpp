#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>
#include <roost/tree/level.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What shutdown nodes have to say. Nothing is said until somebody listens.

namespace roost::inline ROOST_ABI {

class node;

enum class shutdown_event : std::uint8_t {
    raised,      // trace: a level was raised on this node
    completed,   // trace: stopped, and no work is left below
    late_guard,  // debug: a guard was dropped after stop
};

enum class log_severity : std::uint8_t { trace, debug };

// One record. Strings are valid during the call.
struct shutdown_record {
    shutdown_event event = shutdown_event::raised;
    log_severity severity = log_severity::trace;
    std::string_view node_name;
    site made_at;                 // of the guard, or of the node
    level now = level::running;
    std::optional<duration> age;  // of the guard, when it is known

    // "guard of 'uploads' dropped after stop, made at upload.cpp:17, held for 2.5 s"
    [[nodiscard]] std::string to_string() const;
};

// Called on the thread that caused the record, outside every lock; has to be short and must not throw.
using shutdown_log = void (*)(void* context, const shutdown_record& record) noexcept;
// Set it before threads use shutdown nodes, or while none does. Null: nobody listens.
void set_shutdown_log(shutdown_log log, void* context = nullptr) noexcept;

namespace detail {
// True while somebody listens. None in models: what is set once per program must not become part of every search.
#if defined(ROOST_SEAM_MODEL)
inline constexpr const atomic<bool>* log_switch = nullptr;
#else
extern atomic<bool> is_listened;
inline constexpr const atomic<bool>* log_switch = &is_listened;
#endif
void log_raised(const node& n, level now) noexcept;
void log_complete(const node& n) noexcept;
void log_late_guard(const node& n, site made_at, std::optional<duration> age) noexcept;
}  // namespace detail

}  // namespace roost::inline ROOST_ABI
