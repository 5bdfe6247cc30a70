// Orders K3 and K4: runtime/detail/keeper.hpp.

#include <roost/runtime/detail/keeper.hpp>

#include <roost/base/detail/measuring.hpp>
#include <roost/base/detail/subject_text.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/exec/detail/probes.hpp>
#include <roost/exec/detail/recent_time.hpp>
#include <roost/runtime/detail/fork_check.hpp>
#include <roost/runtime/detail/scheduler.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace roost::inline ROOST_ABI {

std::string observe::overrun::to_string() const {
    std::string out = "roost: runtime '" + std::string(runtime_) + "', worker " + std::to_string(worker_) + ":";
    detail::append_subject(out, name_.empty() ? " a body without a name" : "", name_, where_);
    out += " has run for " + format_duration(ran_) + " without suspending";
    return continued_.is_known() ? out + ", after its await at " + continued_.to_string() : out;
}

}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr duration rescue_period = std::chrono::milliseconds(2);
constexpr duration longest_period = std::chrono::milliseconds(50);
constexpr std::size_t longest_name = 120;
constexpr unsigned quiet_limit = 8;  // checks without a running body, after which the keeper dozes

const keeper*& this_keeper() noexcept {
    struct tag;
    return thread_value<tag, const keeper*>::get();
}

}  // namespace

keeper::keeper(options o) : options_(std::move(o)), thread_name_(options_.name + "/keeper"), timers_(bell_) {}
keeper::~keeper() { stop(); }

void keeper::watch(pulse& p, scheduler* rescued) {
    watched_.push_back({&p});
    beats_.reset(new std::uint64_t[watched_.size()]());
    rescued_ = rescued;
    period_ = options_.soft_budget > duration(0) ? std::clamp(options_.soft_budget / 4, rescue_period, longest_period)
                                                 : longest_period;
    if (rescued != nullptr && watched_.size() > 1) {
        period_ = rescue_period;
    }
}

void keeper::start() {
    thread_ = thread([this] { run(); });
}

void keeper::stop() noexcept {
    if (thread_.joinable()) {
        stopping_.store(true, mo::relaxed);  // K3
        bell_.ring();
        thread_.join();
    }
}

bool keeper::is_here() const noexcept { return this_keeper() == this; }

void keeper::run() noexcept {
    name_this_thread(thread_name_, 0);
    this_keeper() = this;
    for (;;) {
        const std::uint32_t heard = bell_.listen();  // before every check: a later ring ends the sleep
        if (stopping_.load(mo::relaxed)) {           // K4
            recent_time::rest();
            return;
        }
        const time_point next = timers_.advance(now());
        const time_point again = look(now());
        bell_.sleep(heard, std::min(next, again));
    }
}

// The watcher's part. Returns the time of the next check.
time_point keeper::look(time_point now) noexcept {
    if (watched_.empty()) {
        return no_deadline;
    }
    recent_time::tell(now);
    if (doze_.wake()) {
        quiet_looks_ = doze::sleeps_safely() ? 0 : quiet_limit - 1;
        next_look_ = now;
    }
    if (now < next_look_) {
        return next_look_;
    }
    const bool active = sample(now);
    if (rescued_ != nullptr) {
        rescued_->rescue(beats_.get());
    }
    quiet_looks_ = active ? 0 : quiet_looks_ + 1;
    if (quiet_looks_ >= quiet_limit) {
        // From here on a worker that starts rings. The last sample sees workers that started before.
        recent_time::rest();
        doze_.fall();
        if (!sample(now)) {
            return doze::sleeps_safely() ? no_deadline : deadline_after(now, longest_period);
        }
    }
    next_look_ = deadline_after(now, period_);
    return next_look_;
}

bool keeper::sample(time_point now) noexcept {
    bool active = false;
    for (unsigned i = 0; i < watched_.size(); ++i) {
        watched& w = watched_[i];
        const std::uint64_t beat = w.of->read();
        if (beat != w.beat) {
            w.beat = beat;
            w.since = now;
            w.reported = false;
            active = true;
        } else if (pulse::is_in_body(beat)) {
            active = true;
            if (options_.soft_budget > duration(0) && !w.reported && now - w.since >= options_.soft_budget) {
                report(w, i, now);
            }
        }
    }
    return active;
}

void keeper::report(watched& w, unsigned index, time_point now) noexcept {
    w.reported = true;
    const duration ran = now - w.since;
    // Copied: the body cannot end while its name is read, and the report may take a while.
    std::array<char, longest_name + 1> name{};
    std::size_t size = 0;
    site where;
    site continued;
    w.of->look([&](const activity_label& what) noexcept {
        size = what.name().copy(name.data(), longest_name);
        where = what.site();
        continued = what.continued_at();
    });
    measuring::count(rare_event::stall);
    ROOST_PROBE2(stall, name.data(), ran.count());
    if (flight_recorder::now() != 0) [[unlikely]] {
        flight_recorder::write(event_kind::body_stalled, reinterpret_cast<const void*>(std::uintptr_t(index)),
                               static_cast<std::uint64_t>(ran.count()),
                               flight_recorder::copied_text(std::string_view(name.data(), size)));
    }
    say(observe::overrun(options_.name, index, std::string_view(name.data(), size), where, ran, continued));
}

namespace {

void print(const observe::overrun& what) noexcept {
    try {
        write_stderr(what.to_string() + "\n");
    } catch (const std::exception&) {  // no memory for the sentence: a shorter one needs none
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(what.ran_for()).count();
        char text[longest_name + 128];
        const int size = std::snprintf(
            text, sizeof text, "roost: worker %u: '%.*s' has run for %lld ms without suspending\n", what.worker_index(),
            static_cast<int>(what.name().size()), what.name().data(), static_cast<long long>(ms));
        write_stderr(std::string_view(text, static_cast<std::size_t>(size)));
    }
}

}  // namespace

void keeper::say(const observe::overrun& what) const noexcept {
    if (options_.on_overrun != nullptr) {
        options_.on_overrun(what, options_.context);
    } else {
        print(what);
    }
}

}  // namespace roost::inline ROOST_ABI::detail
