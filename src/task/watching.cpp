// Orders O1 to O9, W1, W2: task/detail/job/watching.hpp.

#include <roost/task/detail/job/watching.hpp>

namespace roost::inline ROOST_ABI {

using namespace observe;

// O9 survives fetch_add as load and store: a stripe is shared by every sixteenth thread; models have three

namespace detail {

constinit watching watching::everybody;

bool watching::count(bool on) noexcept {
    const std::uint8_t before = on ? wanted_.fetch_or(counted, mo::relaxed)                                // W2
                                   : wanted_.fetch_and(static_cast<std::uint8_t>(~counted), mo::relaxed);  // W2
    return (before & counted) != 0;
}

void watching::add(job_counts::which w, std::uint64_t n) noexcept {
    counts_[thread_index() % stripes].n[job_counts::index(w)].fetch_add(n, mo::relaxed);  // O9
}

job_counts watching::counts() const noexcept {
    job_counts sum;
    for (unsigned w = 0; w < job_counts::size; ++w) {
        for (const stripe& s : counts_) {
            sum.add(static_cast<job_counts::which>(w), s.n[w].load(mo::relaxed));  // O9
        }
    }
    return sum;
}

std::size_t watching::come(job_observer& who) noexcept {
    for (std::size_t i = 0; i < places; ++i) {
        job_observer* none = nullptr;
        if (observers_[i].who.compare_exchange_strong(none, &who, mo::release, mo::relaxed)) {  // O3
            wanted_.fetch_or(told, mo::release);                                                  // O2
            return i;
        }
    }
    return places;
}

void watching::go(std::size_t which) noexcept {
    place& mine = observers_[which];
    mine.who.store(nullptr, mo::seq_cst);           // O6
    while (mine.inside.load(mo::seq_cst) != 0) {    // O7
        yield_thread();
    }
    for (const place& p : observers_) {
        if (p.who.load(mo::relaxed) != nullptr) {  // O1
            return;
        }
    }
    wanted_.fetch_and(static_cast<std::uint8_t>(~told), mo::acquire);  // W1
    for (const place& p : observers_) {  // an observer may have come between the check and the switch
        if (p.who.load(mo::relaxed) != nullptr) {  // O1
            wanted_.fetch_or(told, mo::relaxed);   // W2
        }
    }
}

void watching::tell(const job_event& e) noexcept {
    for (place& p : observers_) {
        if (p.who.load(mo::relaxed) == nullptr) {  // O1
            continue;
        }
        p.inside.fetch_add(1, mo::seq_cst);                       // O4
        if (job_observer* who = p.who.load(mo::seq_cst)) {        // O5
            who->on_event(e);
        }
        p.inside.fetch_sub(1, mo::release);  // O8
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
