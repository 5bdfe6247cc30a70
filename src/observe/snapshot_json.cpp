#include <roost/base/detail/json_text.hpp>
#include <roost/observe/snapshot.hpp>

#include <chrono>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace {

void append_member(std::string& out, std::string_view key, std::string_view text) {
    if (!text.empty()) {
        out.append(",\"").append(key).append("\":");
        detail::append_json_string(out, text);
    }
}
void append_member(std::string& out, std::string_view key, std::int64_t number) {
    out.append(",\"").append(key).append("\":").append(std::to_string(number));
}
void append_member(std::string& out, std::string_view key, bool is_set) {
    if (is_set) {
        out.append(",\"").append(key).append("\":true");
    }
}

std::int64_t ms_of(duration d) noexcept { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); }

void append_row(std::string& out, const snapshot_row& r) {
    out.append("{\"id\":").append(std::to_string(r.id)).append(",\"parent\":").append(std::to_string(r.parent));
    append_member(out, "depth", std::int64_t{r.depth});
    append_member(out, "kind", r.kind);
    append_member(out, "name", r.name);
    if (r.site.is_known()) {
        append_member(out, "site", std::string_view(r.site.to_string()));
    }
    append_member(out, "state", r.state);
    append_member(out, "level", to_string(r.now));
    if (r.requested != r.now) {
        append_member(out, "requested", to_string(r.requested));
    }
    append_member(out, "reason", r.reason);
    append_member(out, "shielded", r.shield);
    append_member(out, "closing", r.closing);
    append_member(out, "closed", r.closed);
    append_member(out, "uninterruptible", r.uninterruptible);
    append_member(out, "units", std::int64_t{r.units});
    if (r.age) {
        append_member(out, "age_ms", ms_of(*r.age));
    }
    if (r.left) {
        append_member(out, "deadline_ms", ms_of(*r.left));
    }
    append_member(out, "at", r.stack);
    append_member(out, "waits_on", r.waits_on);
    append_member(out, "held_by", r.held_by);
    append_member(out, "traceparent", r.trace);
    out.append("}");
}

}  // namespace

std::string tree_snapshot::to_json() const {
    std::string out = "{\"schema\":1,\"complete\":";
    out.append(is_complete_ ? "true" : "false");
    append_member(out, "visited", static_cast<std::int64_t>(visited_));
    out.append(",\"nodes\":[");
    bool is_first = true;
    for (const snapshot_row& r : rows_) {
        out.append(is_first ? "\n" : ",\n");
        append_row(out, r);
        is_first = false;
    }
    return out.append("\n]}\n");
}

}  // namespace roost::inline ROOST_ABI
