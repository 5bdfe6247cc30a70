#include <roost/tree/detail/entry_text.hpp>

#include <roost/base/detail/subject_text.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr std::size_t most_callers_shown = 6;

void append_state(std::string& out, const node_description& d) {
    out.append(", ").append(d.state.empty() ? to_string(d.now) : d.state);
    if (d.requested != d.now) {
        out.append(", ").append(to_string(d.requested)).append(" held up");
    }
    if (d.requested > level::running) {
        if (const reason why = d.target->why_with_origin(d.requested)) {
            out.append(" (").append(shown(why.to_string())).append(")");
        }
    }
    if (d.state.empty() && d.closing) {
        out.append(d.closed ? ", closed" : ", closing");
    }
    if (d.shield) {
        out.append(", shielded");
    }
}

void append_wait(std::string& out, const node_description& d) {
    append_stack(out, d);
    if (!d.waits_on.empty()) {
        out.append(", waits on ");
        append_on_one_line(out, shown(d.waits_on));
    }
    if (d.uninterruptible) {
        out.append(", uninterruptible");
    }
}

}  // namespace

void append_stack(std::string& out, const node_description& d) {
    if (!d.waits_at.is_known()) {
        return;
    }
    out.append(", at ").append(d.waits_at.to_string());
    for (std::size_t i = 0; i < d.caller_count && i < most_callers_shown; ++i) {
        out.append(" <- ").append(d.callers[i].to_string());
    }
    if (d.has_more_callers || d.caller_count > most_callers_shown) {
        out.append(" <- ...");
    }
}

entry_text describe_entry(const node_description& d) {
    entry_text made;
    append_subject(made.head, shown(d.kind), shown(d.name), d.site);
    append_state(made.head, d);
    append_wait(made.tail, d);
    made.held_by = shown(d.held_by);
    if (d.started) {
        made.age = std::max(duration(0), now() - *d.started);
    }
    if (d.deadline != no_deadline) {
        made.left = d.deadline - d.deadline_clock.value_or(now());
    }
    return made;
}

void append_held_by(std::string& out, std::string_view held_by) {
    if (!held_by.empty()) {
        out.append(" (");
        append_on_one_line(out, held_by);
        out.append(")");
    }
}

void append_age(std::string& out, duration youngest, duration oldest) {
    if (oldest < duration(0)) {
        return;
    }
    const std::string first = format_duration(youngest);
    const std::string last = format_duration(oldest);
    out.append(", age ").append(first);
    if (first != last) {
        out.append(" to ").append(last);
    }
}

void append_deadline(std::string& out, duration left) {
    if (left == duration::max()) {
        return;
    }
    if (left < duration(0)) {
        out.append(", deadline passed ").append(format_duration(-left)).append(" ago");
    } else {
        out.append(", deadline in ").append(format_duration(left));
    }
}

void append_entry(std::string& out, const entry_text& e) {
    out.append(e.head);
    append_age(out, e.age, e.age);
    out.append(e.tail);
    append_held_by(out, e.held_by);
    append_deadline(out, e.left);
}

}  // namespace roost::inline ROOST_ABI::detail
