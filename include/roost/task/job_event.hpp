#pragma once

// What `task` counts and reports of its jobs. The switches are in roost/observe/job_events.hpp.

#include <roost/base/reason.hpp>
#include <roost/base/site.hpp>
#include <roost/task/detail/access.hpp>
#include <roost/task/job_state.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::observe {

// Each number is incremented exactly once per event. A job that was created before counting began is not counted at all, not
// even its end. So created() is always the sum of the finished and the living jobs.
class job_counts {
public:
    enum class which : unsigned { created, cancels_requested, failed, completed, cancelled, waits_registered, waits_woken };
    static constexpr std::size_t size = 7;

    job_counts() noexcept = default;
    [[nodiscard]] std::uint64_t created() const noexcept { return n_[index(which::created)]; }
    [[nodiscard]] std::uint64_t cancels_requested() const noexcept { return n_[index(which::cancels_requested)]; }
    [[nodiscard]] std::uint64_t failed() const noexcept { return n_[index(which::failed)]; }
    [[nodiscard]] std::uint64_t completed() const noexcept { return n_[index(which::completed)]; }
    [[nodiscard]] std::uint64_t cancelled() const noexcept { return n_[index(which::cancelled)]; }
    // Waits of join(), awaited deferreds and selects that had to suspend.
    [[nodiscard]] std::uint64_t waits_registered() const noexcept { return n_[index(which::waits_registered)]; }
    [[nodiscard]] std::uint64_t waits_woken() const noexcept { return n_[index(which::waits_woken)]; }
    [[nodiscard]] std::uint64_t finished() const noexcept { return failed() + completed() + cancelled(); }

    [[nodiscard]] static constexpr std::size_t index(which w) noexcept { return static_cast<std::size_t>(w); }

private:
    friend struct detail::task_access;
    void add(which w, std::uint64_t n) noexcept { n_[index(w)] += n; }

    std::uint64_t n_[size] = {};
};

enum class job_event_kind : std::uint8_t {
    created,
    child_attached,  // reported together with `created`, about parent()
    state_changed,
    cancel_requested,  // once per job, when a cancel takes effect; an ignore guard delays the event
    finished,  // after the failure was routed, before joiners are notified
    wait_registered,  // a waiter for the job's end was registered
    wait_woken,  // that waiter was notified
};
[[nodiscard]] std::string_view to_string(job_event_kind kind) noexcept;

// Valid during the call.
class job_event {
public:
    job_event(job_event_kind kind, const void* id, std::string_view name, roost::site where, job_state state,
              const void* parent, std::string_view parent_name, const reason& why) noexcept
        : kind_(kind),
          state_(state),
          id_(id),
          name_(name),
          site_(where),
          parent_(parent),
          parent_name_(parent_name),
          why_(&why) {}

    [[nodiscard]] job_event_kind kind() const noexcept { return kind_; }
    [[nodiscard]] job_state state() const noexcept { return state_; }
    // Distinguishes jobs while they live.
    [[nodiscard]] const void* id() const noexcept { return id_; }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] roost::site site() const noexcept { return site_; }
    [[deprecated("use site()")]] [[nodiscard]] roost::site made_at() const noexcept { return site(); }
    [[nodiscard]] const void* parent() const noexcept { return parent_; }
    [[nodiscard]] std::string_view parent_name() const noexcept { return parent_name_; }
    // Returns why the job was cancelled; empty otherwise.
    [[nodiscard]] const reason& why() const noexcept { return *why_; }

private:
    job_event_kind kind_;
    job_state state_;
    const void* id_;
    std::string_view name_;
    roost::site site_;
    const void* parent_;
    std::string_view parent_name_;
    const reason* why_;
};

// Receives the events of all jobs while an `observation` of it exists. on_event() is called by the thread that causes the
// event, with no lock held. Several threads may call it at once, for different jobs. The events of one job are reported one
// at a time, in the order of its states. Events of waits may be reported at any time between its creation and the release of
// its memory. The job does not end during the call. The call must be short.
class job_observer {
public:
    job_observer() = default;
    job_observer(const job_observer&) = delete;
    job_observer& operator=(const job_observer&) = delete;
    virtual void on_event(const job_event& e) noexcept = 0;

protected:
    ~job_observer() = default;
};

}  // namespace roost::inline ROOST_ABI::observe
