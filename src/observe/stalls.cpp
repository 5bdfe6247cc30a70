#include <roost/observe/stalls.hpp>

#include <roost/base/detail/measuring.hpp>
#include <roost/base/detail/subject_text.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/observe/snapshot.hpp>
#include <roost/task/detail/job/job_core.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace {

// A cancelled job, as far as it has been visited.
struct suspect {
    stall found;
    bool has_jobs_below = false;

    // Its body only waits for them.
    [[nodiscard]] bool waits_for_children() const noexcept {
        return has_jobs_below && found.cause == stall_cause::running && found.waits_on.empty();
    }
};
using suspects = std::unordered_map<const detail::job_core*, suspect>;

// Adds what one region says about the body of its job.
void explain(stall& s, const node_description& d) {
    if (d.ignoring) {
        s.cause = stall_cause::ignore_guard;
    } else if (d.shield && d.requested < level::cancel) {
        s.cause = stall_cause::shield;
        s.at = d.site;
    }
    if (d.uninterruptible) {
        s.cause = stall_cause::uninterruptible;
    }
    if (!d.waits_on.empty()) {
        s.waits_on = d.waits_on;
        s.at = d.waits_at.is_known() ? d.waits_at : s.at;
    }
}

void note_below(suspects& all, const detail::node& n) {
    for (const detail::node* at = n.parent(); at != nullptr; at = at->parent()) {
        detail::region* const in = detail::region::from(const_cast<detail::node&>(*at));
        if (const auto above = in == nullptr ? all.end() : all.find(&in->owner()); above != all.end()) {
            above->second.has_jobs_below = true;
            return;
        }
    }
}

void visit_one(suspects& all, const node_description& d) {
    detail::region* const in = detail::region::from(*d.target);
    if (in == nullptr || d.left_out) {
        return;
    }
    detail::job_core& job = in->owner();
    if (static_cast<detail::node*>(&job) == d.target) {
        if (job.is_final()) {
            return;
        }
        note_below(all, *d.target);
        if (job.cancel_requested() && !job.is_closing()) {
            all[&job].found.job = roost::node::try_share(*d.target);
        }
    }
    if (const auto mine = all.find(&job); mine != all.end()) {
        explain(mine->second.found, d);
    }
}

}  // namespace

std::string stall::to_string() const {
    std::string out;
    detail::append_subject(out, "job", job.name(), job.site());
    if (at.is_known()) {
        out.append(" at ").append(at.to_string());
    }
    out.append(" was cancelled ").append(format_duration(lasted)).append(" ago and has not ended: ");
    switch (cause) {
        case stall_cause::ignore_guard: out.append("it ignores the cancel"); break;
        case stall_cause::shield: out.append("it is in a shield"); break;
        case stall_cause::uninterruptible: return out.append("it awaits a ").append(waits_on);
        case stall_cause::running: out.append("its body goes on"); break;
    }
    return waits_on.empty() ? out : out.append(" and waits on ").append(waits_on);
}

std::vector<stall> stall_watch::look(const roost::node& root, time_point at) {
    suspects all;
    static_cast<void>(
        visit(root, std::numeric_limits<std::size_t>::max(), [&](const node_description& d) { visit_one(all, d); }));
    std::unordered_map<std::uint64_t, sighting> still;
    std::vector<stall> found;
    for (auto& [job, s] : all) {
        const std::uint64_t id = id_of(s.found.job);
        if (id == 0 || !s.found.job) {
            continue;
        }
        const auto before = seen_.find(id);
        sighting& mine = still.emplace(id, before == seen_.end() ? sighting{at} : before->second).first->second;
        if (at - mine.since >= limit_ && !s.waits_for_children()) {
            s.found.lasted = at - mine.since;
            found.push_back(std::move(s.found));
            if (!std::exchange(mine.is_counted, true)) {
                detail::measuring::count(detail::rare_event::ignored_cancel);
            }
        }
    }
    seen_ = std::move(still);
    std::sort(found.begin(), found.end(), [](const stall& a, const stall& b) { return a.lasted > b.lasted; });
    return found;
}

}  // namespace roost::inline ROOST_ABI
