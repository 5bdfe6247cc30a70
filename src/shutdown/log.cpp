#include <roost/shutdown/log.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/shutdown/detail/node_log.hpp>
#include <roost/tree/detail/node.hpp>

// id  operation            order    pairs  carries                                              fails in
// G1  listener: load       seq_cst  G2     listener_context                                     (no model: set while no thread logs)
// G2  listener: store      seq_cst  G1     listener_context                                     (no model: set while no thread logs)
// G3  switch: store        relaxed  -      nothing: set while no node is used                   (floor)

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace seam;

#if !defined(ROOST_SEAM_MODEL)
constinit atomic<bool> detail::is_listened{false};
#endif

namespace {

#if defined(ROOST_SEAM_MODEL)
void emit(const shutdown_record&) noexcept {}
#else
constinit atomic<shutdown_log> listener{nullptr};
void* listener_context = nullptr;

void emit(const shutdown_record& record) noexcept {
    if (const shutdown_log log = listener.load(mo::seq_cst)) {  // G1
        log(listener_context, record);
    }
}
#endif

}  // namespace

#if defined(ROOST_SEAM_MODEL)
shutdown_log_sink observe::set_shutdown_log(shutdown_log_sink) noexcept { return {}; }
#else
shutdown_log_sink observe::set_shutdown_log(shutdown_log_sink to) noexcept {
    const shutdown_log_sink previous(listener.load(mo::seq_cst), listener_context);  // G1
    listener.store(nullptr, mo::seq_cst);                                            // G2
    listener_context = to.context();
    listener.store(to.function(), mo::seq_cst);                              // G2
    detail::is_listened.store(to.function() != nullptr, mo::relaxed);  // G3
    return previous;
}
#endif

std::string shutdown_record::to_string() const {
    const std::string who = "'" + std::string(node_name) + "'";
    switch (event) {
        case shutdown_event::raised: return "shutdown " + who + " is now at " + std::string(roost::to_string(now));
        case shutdown_event::completed: return "shutdown " + who + " is complete";
        case shutdown_event::late_guard: break;
    }
    std::string text = "guard of " + who + " dropped after stop, made at " + site.to_string();
    if (age) {
        text.append(", held for ").append(format_duration(*age));
    }
    return text;
}

namespace detail {

void log_raised(const node& n, level now) noexcept {
    emit({shutdown_event::raised, log_severity::trace, n.name(), n.made_at(), now, std::nullopt});
}

void log_complete(const node& n) noexcept {
    emit({shutdown_event::completed, log_severity::trace, n.name(), n.made_at(), n.level_now(), std::nullopt});
}

void log_late_guard(const node& n, site made_at, std::optional<duration> age) noexcept {
    emit({shutdown_event::late_guard, log_severity::debug, n.name(), made_at, n.level_now(), age});
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
