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
// A job that is ready to run.
struct ready_job {
    stall found;
    std::int64_t what = 0;
};
struct suspects {
    std::unordered_map<const detail::job_core*, suspect> cancelled;
    std::vector<ready_job> ready;
};

struct seen_wait {
    std::int64_t stamp = 0;
    bool has_ended = false;
    roost::site at;
};

// A wait without a subject does not say whether it has ended.
seen_wait look_at(detail::region& in) {
    seen_wait seen;
    in.look_at_wait(&seen,
                    [](void* context, const detail::cancellable& waiting, const detail::wait_functions& functions) noexcept {
                        const detail::wait_subject subject = functions.subject(waiting);
                        *static_cast<seen_wait*>(context) = {waiting.stamp(), subject.of != nullptr && !subject.is_pending,
                                                             detail::await_line(waiting.frame())};
                    });
    return seen;
}

void note_ready(suspects& all, detail::region& in, const node_description& d) {
    detail::job_core& job = in.owner();
    if (static_cast<detail::node*>(&job) == d.target && job.state() == job_state::fresh) {
        all.ready.push_back({{roost::node::try_share(*d.target), stall_cause::not_begun, {}, {}, {}}, 0});
    } else if (const seen_wait seen = look_at(in); seen.stamp != 0 && seen.has_ended) {
        all.ready.push_back({{roost::node::try_share(job), stall_cause::not_resumed, {}, seen.at, {}}, seen.stamp});
    }
}

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
        if (const auto above = in == nullptr ? all.cancelled.end() : all.cancelled.find(&in->owner());
            above != all.cancelled.end()) {
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
            all.cancelled[&job].found.job = roost::node::try_share(*d.target);
        }
    }
    note_ready(all, *in, d);
    if (const auto mine = all.cancelled.find(&job); mine != all.cancelled.end()) {
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
    if (cause == stall_cause::not_begun) {
        return out.append(" was started ").append(format_duration(lasted)).append(" ago and no thread has run it");
    }
    if (cause == stall_cause::not_resumed) {
        return out.append(" was woken ").append(format_duration(lasted)).append(" ago and no thread has run it since");
    }
    out.append(" was cancelled ").append(format_duration(lasted)).append(" ago and has not ended: ");
    switch (cause) {
        case stall_cause::ignore_guard: out.append("it ignores the cancel"); break;
        case stall_cause::shield: out.append("it is in a shield"); break;
        case stall_cause::uninterruptible: return out.append("it awaits a ").append(waits_on);
        default: out.append("its body goes on"); break;
    }
    return waits_on.empty() ? out : out.append(" and waits on ").append(waits_on);
}

std::vector<stall> stall_watch::look(const roost::node& root, time_point at) {
    suspects all;
    static_cast<void>(
        visit(root, std::numeric_limits<std::size_t>::max(), [&](const node_description& d) { visit_one(all, d); }));
    sightings still;
    sightings still_ready;
    std::vector<stall> found;
    // Takes the stall over into `found` if it has lasted for the limit.
    const auto judge = [&](stall& s, std::int64_t what, const sightings& before, sightings& now, detail::rare_event kind) {
        const std::uint64_t id = id_of(s.job);
        if (id == 0) {
            return;
        }
        const auto old = before.find(id);
        const bool is_same = old != before.end() && old->second.what == what;
        sighting& mine = now.emplace(id, is_same ? old->second : sighting{at, what}).first->second;
        if (at - mine.since >= limit_) {
            s.lasted = at - mine.since;
            found.push_back(std::move(s));
            if (!std::exchange(mine.is_counted, true)) {
                detail::measuring::count(kind);
            }
        }
    };
    for (auto& [job, s] : all.cancelled) {
        if (!s.waits_for_children()) {
            judge(s.found, 0, seen_, still, detail::rare_event::ignored_cancel);
        }
    }
    for (ready_job& r : all.ready) {
        judge(r.found, r.what, ready_, still_ready, detail::rare_event::late_start);
    }
    seen_ = std::move(still);
    ready_ = std::move(still_ready);
    std::sort(found.begin(), found.end(), [](const stall& a, const stall& b) { return a.lasted > b.lasted; });
    return found;
}

}  // namespace roost::inline ROOST_ABI
