// Orders O1 to O9, W1, W2: task/detail/job/watching.hpp.

#include <roost/task/detail/job/watching.hpp>

namespace roost::inline ROOST_ABI {

using namespace observe;

// O9 survives fetch_add as load and store: a stripe is shared by every sixteenth thread; models have three

namespace detail {

constinit watching watching::for_all_jobs;

std::uint8_t watching::set(std::uint8_t bit, bool on) noexcept {
    return on ? wanted_.fetch_or(bit, mo::relaxed)                                // W2
              : wanted_.fetch_and(static_cast<std::uint8_t>(~bit), mo::relaxed);  // W2
}

void watching::add(job_counts::which w, std::uint64_t n) noexcept {
    counts_[thread_index() % stripes].n[job_counts::index(w)].fetch_add(n, mo::relaxed);  // O9
}

job_counts watching::counts() const noexcept {
    job_counts sum;
    for (unsigned w = 0; w < job_counts::size; ++w) {
        for (const stripe& s : counts_) {
            task_access::add(sum, static_cast<job_counts::which>(w), s.n[w].load(mo::relaxed));  // O9
        }
    }
    return sum;
}

bool watching::has_observers() const noexcept {
    for (const observer_slot& s : observers_) {
        if (s.observer.load(mo::relaxed) != nullptr) {  // O1
            return true;
        }
    }
    return false;
}

std::size_t watching::add_observer(job_observer& observer) noexcept {
    for (std::size_t i = 0; i < slots; ++i) {
        job_observer* none = nullptr;
        if (observers_[i].observer.compare_exchange_strong(none, &observer, mo::release, mo::relaxed)) {  // O3
            wanted_.fetch_or(notified, mo::release);                                                       // O2
            return i;
        }
    }
    return slots;
}

void watching::remove_observer(std::size_t slot) noexcept {
    observer_slot& mine = observers_[slot];
    mine.observer.store(nullptr, mo::seq_cst);    // O6
    while (mine.inside.load(mo::seq_cst) != 0) {  // O7
        yield_thread();
    }
    if (has_observers()) {
        return;
    }
    wanted_.fetch_and(static_cast<std::uint8_t>(~notified), mo::acquire);  // W1
    if (has_observers()) {  // one may have been added between the check and the switch
        wanted_.fetch_or(notified, mo::relaxed);  // W2
    }
}

void watching::notify(const job_event& e) noexcept {
    for (observer_slot& s : observers_) {
        if (s.observer.load(mo::relaxed) == nullptr) {  // O1
            continue;
        }
        s.inside.fetch_add(1, mo::seq_cst);                              // O4
        if (job_observer* observer = s.observer.load(mo::seq_cst)) {  // O5
            observer->on_event(e);
        }
        s.inside.fetch_sub(1, mo::release);  // O8
    }
}

}  // namespace detail

std::string_view observe::to_string(job_event_kind kind) noexcept {
    switch (kind) {
        case job_event_kind::created: return "created";
        case job_event_kind::child_attached: return "child attached";
        case job_event_kind::state_changed: return "state changed";
        case job_event_kind::cancel_requested: return "cancel requested";
        case job_event_kind::finished: return "finished";
        case job_event_kind::wait_registered: return "wait registered";
        case job_event_kind::wait_woken: return "wait woken";
    }
    return "?";
}

}  // namespace roost::inline ROOST_ABI
