#include <roost/observe/chrome_trace.hpp>

#include <roost/task/job_state.hpp>
#include <roost/tree/level.hpp>

#include "trace_line.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

namespace {

using detail::flight_record;

struct known_job {
    std::uint64_t id = 0;
    std::string_view name;
    std::uint64_t place = 0;
    std::string_view waits_on;
    std::uint64_t awaits = 0;
};
struct open_slice {
    std::uint64_t at;  // the job's address
    std::uint64_t begin;
    known_job job;
};
struct open_use {
    std::uint64_t id;
    std::string_view pool;
};
struct wake {
    std::uint64_t id;
    std::uint64_t time;
    std::uint32_t thread;
};
struct track {
    std::vector<open_slice> running;  // the innermost one last
    std::optional<std::uint64_t> parked;
};

// Jobs, frames and slots are known by their addresses, which are used again: what begins ends what was there before.
class exporter {
public:
    explicit exporter(const recording& from)
        : from_(from), tracks_(from.threads().size()), process_(from.process() == 0 ? 1 : from.process()) {
        first_ = from.events().empty() ? 0 : from.events().front().time().time_since_epoch().count();
    }

    std::string run() {
        out_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":{";
        facts();
        out_ += "},\"traceEvents\":[";
        for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
            const recorded_thread& t = from_.threads()[i];
            begin("M", i)
                .text("name", "thread_name")
                .args()
                .text("name", t.name())
                .number("thread", t.id())
                .number("lost", t.lost());
        }
        for (const recorded_event& e : from_.events()) {
            // Unsigned: the times of a damaged recording may be far apart.
            now_ = static_cast<std::uint64_t>(e.time().time_since_epoch().count()) - static_cast<std::uint64_t>(first_);
            handle(e);
        }
        // What runs at the end has run until then.
        const auto end =
            static_cast<std::uint64_t>(from_.ended_at().time_since_epoch().count()) - static_cast<std::uint64_t>(first_);
        now_ = from_.events().empty() || from_.ended_at() < from_.events().back().time() ? now_ : end;
        for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
            while (!tracks_[i].running.empty()) {
                end_slice(i, "the recording ends");
            }
            woke(i);
        }
        out_ += "\n]}\n";
        return std::move(out_);
    }

private:
    [[nodiscard]] trace_line begin(const char* phase, std::uint32_t thread) { return {out_, phase, process_, thread + 1}; }

    void facts() {
        const auto fact = [this](const char* key, std::string_view value) {
            out_ += out_.ends_with('{') ? "\"" : ",\"";
            (out_ += key) += "\":";
            append_json_text(out_, value);
        };
        fact("events", std::to_string(from_.events().size()));
        fact("lost", std::to_string(from_.lost()));
        fact("unrecorded", std::to_string(from_.unrecorded()));
        fact("unnamed", std::to_string(from_.unnamed()));
        fact("problem", from_.problem());
    }

    void handle(const recorded_event& e) {
        switch (e.kind()) {
            case recorded_kind::job_created: created(e); break;
            case recorded_kind::job_origin: job_of(e, {}).place = e.first(); break;
            case recorded_kind::job_resumed: resumed(e); break;
            case recorded_kind::job_left: left(e); break;
            case recorded_kind::job_suspended: job_of(e, {}).waits_on = from_.text(e.second()); break;
            case recorded_kind::job_awaits: job_of(e, {}).awaits = e.first(); break;
            case recorded_kind::job_ended: ended(e); break;
            case recorded_kind::job_cancelled: cancelled(e); break;
            case recorded_kind::frame_woken: woken(e); break;
            case recorded_kind::level_raised:
                instant(e, "raises", from_.text(e.second())).args().text("to", level_text(e.first()));
                break;
            case recorded_kind::pool_acquired: acquired(e); break;
            case recorded_kind::pool_released: released(e); break;
            case recorded_kind::pool_waited:
                instant(e, "waits for pool", from_.text(e.second())).args().text("at", from_.place(e.first()));
                break;
            case recorded_kind::timer_fired: instant(e, "timer", {}).args().micros("late_us", e.first()); break;
            case recorded_kind::body_stalled:
                instant(e, "stall", from_.text(e.second())).args().number("worker", e.subject()).micros("ran_us", e.first());
                break;
            case recorded_kind::worker_parked: tracks_[e.thread()].parked = now_; break;
            case recorded_kind::worker_woke: woke(e.thread()); break;
            case recorded_kind::thread_began: left_behind(e.thread()); break;
            case recorded_kind::none: break;
        }
    }

    [[nodiscard]] static std::string_view level_text(std::uint64_t word) noexcept {
        return word <= static_cast<std::uint64_t>(level::abort) ? to_string(static_cast<level>(word)) : "unknown";
    }
    [[nodiscard]] static std::string_view outcome_text(std::uint64_t word) noexcept {
        return roost::to_string(static_cast<job_state>(word < 256 ? word : 255));
    }

    // --- jobs --------------------------------------------------------------------------------------------------------

    trace_line async(const char* phase, std::uint32_t thread, const char* category, std::uint64_t id,
                     std::string_view name) {
        trace_line l = begin(phase, thread);
        l.text("cat", category).number("id", id).micros("ts", now_).text("name", name.empty() ? "without a name" : name);
        return l;
    }
    trace_line instant(const recorded_event& e, const char* what, std::string_view of) {
        std::string name = what;
        if (!of.empty()) {
            name.append(" '").append(of).append("'");
        }
        trace_line l = begin("i", e.thread());
        l.text("s", "t").micros("ts", now_).text("name", name);
        return l;
    }

    known_job& job_of(const recorded_event& e, std::string_view name) {
        const auto [at, is_new] = jobs_.try_emplace(e.subject());
        if (is_new) {
            at->second = {++last_id_, name, 0, {}, 0};
            async("b", e.thread(), "job", at->second.id, name).args().text("created", "before the recording");
        }
        return at->second;
    }

    void created(const recorded_event& e) {
        if (const auto old = jobs_.find(e.subject()); old != jobs_.end()) {
            async("e", e.thread(), "job", old->second.id, old->second.name).args().text("outcome", "not recorded");
            jobs_.erase(old);
        }
        const auto parent = jobs_.find(e.first());
        const std::uint64_t parent_id = parent == jobs_.end() ? 0 : parent->second.id;
        const known_job& made = jobs_[e.subject()] = {++last_id_, from_.text(e.second()), 0, {}, 0};
        async("b", e.thread(), "job", made.id, made.name).args().number("parent", parent_id);
    }

    void ended(const recorded_event& e) {
        const auto known = jobs_.find(e.subject());
        if (known == jobs_.end()) {
            return;
        }
        const known_job& job = known->second;
        async("e", e.thread(), "job", job.id, job.name).args().text("outcome", outcome_text(e.first()));
        jobs_.erase(e.subject());
    }

    void cancelled(const recorded_event& e) {
        const known_job& job = job_of(e, {});
        async("n", e.thread(), "job", job.id, "cancel requested");
        instant(e, "cancels", job.name).args().number("job", job.id);
    }

    // --- what runs ---------------------------------------------------------------------------------------------------

    void resumed(const recorded_event& e) {
        known_job& job = job_of(e, from_.text(e.second()));
        job.waits_on = {};
        job.awaits = 0;
        tracks_[e.thread()].running.push_back({e.subject(), now_, job});
        const auto by = wakes_.find(e.first());
        if (by == wakes_.end()) {
            return;
        }
        const wake w = by->second;
        wakes_.erase(by);
        begin("s", w.thread).text("cat", "wake").number("id", w.id).micros("ts", w.time).text("name", "wake");
        begin("f", e.thread())
            .text("bp", "e")
            .text("cat", "wake")
            .number("id", w.id)
            .micros("ts", now_)
            .text("name", "wake");
    }

    // An arrow begins in a slice, so a wake outside of bodies gets one.
    void woken(const recorded_event& e) {
        if (tracks_[e.thread()].running.empty()) {
            begin("X", e.thread()).micros("ts", now_).micros("dur", 1).text("name", "wake");
        }
        wakes_[e.subject()] = {++last_wake_, now_, e.thread()};
    }

    void left(const recorded_event& e) {
        std::vector<open_slice>& running = tracks_[e.thread()].running;
        std::size_t same = running.size();
        while (same > 0 && running[same - 1].at != e.subject()) {
            --same;
        }
        while (same > 0 && running.size() >= same) {
            end_slice(e.thread(), {});
        }
    }
    void left_behind(std::uint32_t thread) {
        while (!tracks_[thread].running.empty()) {
            end_slice(thread, "not recorded");
        }
    }

    void end_slice(std::uint32_t thread, std::string_view how) {
        const open_slice s = tracks_[thread].running.back();
        tracks_[thread].running.pop_back();
        const auto still = jobs_.find(s.at);
        const bool is_alive = still != jobs_.end() && still->second.id == s.job.id;
        trace_line l = begin("X", thread);
        l.micros("ts", s.begin)
            .micros("dur", now_ - s.begin)
            .text("name", s.job.name.empty() ? "without a name" : s.job.name);
        l.args().number("job", s.job.id);
        if (const std::string place = from_.place(is_alive ? still->second.place : s.job.place); !place.empty()) {
            l.text("at", place);
        }
        if (!how.empty()) {
            l.text("end", how);
        } else {
            l.text("end", !is_alive ? "ended" : still->second.waits_on.empty() ? "left its thread" : "waits");
        }
        if (is_alive && !still->second.waits_on.empty()) {
            l.text("waits on", still->second.waits_on).text("waits at", from_.place(still->second.awaits));
        }
    }

    void woke(std::uint32_t thread) {
        if (const auto since = std::exchange(tracks_[thread].parked, std::nullopt)) {
            begin("X", thread).micros("ts", *since).micros("dur", now_ - *since).text("name", "parked");
        }
    }

    // --- pools -------------------------------------------------------------------------------------------------------

    void acquired(const recorded_event& e) {
        const open_use& use = uses_[e.subject()] = {++last_id_, from_.text(e.second())};
        async("b", e.thread(), "pool", use.id, use.pool).args().text("at", from_.place(e.first()));
    }
    void released(const recorded_event& e) {
        const auto use = uses_.find(e.subject());
        if (use != uses_.end()) {
            async("e", e.thread(), "pool", use->second.id, use->second.pool);
            uses_.erase(use);
        }
    }

    const recording& from_;
    std::vector<track> tracks_;
    std::unordered_map<std::uint64_t, known_job> jobs_;
    std::unordered_map<std::uint64_t, open_use> uses_;
    std::unordered_map<std::uint64_t, wake> wakes_;
    std::string out_;
    std::uint32_t process_;
    std::int64_t first_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t last_wake_ = 0;
};

}  // namespace

std::string to_chrome_trace(const recording& from) { return exporter(from).run(); }

}  // namespace roost::inline ROOST_ABI::observe
