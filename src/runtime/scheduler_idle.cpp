// Order S2: runtime/detail/scheduler.hpp.

// What a worker without work does: it searches, drives or sleeps.

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/runtime/detail/keeper.hpp>
#include <roost/runtime/detail/scheduler.hpp>

#include <algorithm>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr unsigned longest_pause = 6;        // as a power of two
constexpr std::int64_t steal_limit = 8;

void pause(unsigned round) noexcept {
    for (unsigned i = 1U << std::min(round, longest_pause); i > 0; --i) {
        spin_hint();
    }
}

}  // namespace

work* scheduler::search(worker& me) noexcept {
    const unsigned count = options_.workers;
    for (unsigned i = 0; i < count; ++i) {
        me.beats[i] = workers_[i].pulse.read();
    }
    const auto first = static_cast<unsigned>(random_u64() % count);
    // The next thing that a worker would do is drive: what comes through the driver must not wait for the end of a search.
    const bool drives_next = seat_.driver() != nullptr && seat_.is_free();
    const unsigned rounds = drives_next ? patience::least : me.patience.rounds();
    for (unsigned round = 0; round < options_.search_rounds && !finished_.load(mo::relaxed); ++round) {  // S2
        if (round == rounds && !is_anything_kept(me)) {
            break;
        }
        if (work* w = fetch_outside(me)) {
            return w;
        }
        for (unsigned i = 0; i < count; ++i) {
            worker& victim = workers_[(first + i) % count];
            if (work* w = &victim == &me ? nullptr : steal_from(me, victim, round >= options_.patient_rounds)) {
                return w;
            }
        }
        pause(round);
    }
    return nullptr;
}

work* scheduler::steal_from(worker& me, worker& victim, bool patient) noexcept {
    const std::int64_t spare = victim.spare();
    if (spare < 2) {
        const bool stuck = patient && victim.pulse.read() == me.beats[victim.index];
        if (!stuck || (spare == 0 && victim.inbox.is_empty())) {
            return nullptr;
        }
    }
    bool lost = false;
    work* first = victim.deque.steal(lost);
    if (first == nullptr) {
        return lost ? nullptr : take_inbox(me, victim);
    }
    for (std::int64_t more = std::min(victim.deque.size_approx() / 2, steal_limit); more > 0; --more) {
        work* w = victim.deque.steal(lost);
        if (w == nullptr) {
            break;
        }
        push(me, *w);
    }
    return first;
}

// The last searcher to stop wakes another one if there is more work: a post that saw a searcher woke no one.
work* scheduler::end_search(worker& me, work* found) noexcept {
    const idle_set::counts left = idle_.end_search();
    if (left.searching == 0 && left.parked != 0) {
        if (!left.is_ordered && left.parked + 1 < options_.workers) {
            idle_.order_before_look();
        }
        if (is_anything_to_get()) {
            idle_.wake_one();
        }
    }
    if (options_.watcher != nullptr) {
        me.pulse.begin_body();
        options_.watcher->started();
    }
    return found;
}

bool scheduler::park(worker& me, bool was_searching) noexcept {
    idle_.announce(me.sleeper, was_searching);
    if (is_anything_to_get()) {
        idle_.withdraw(me.sleeper);
        return true;
    }
    if (outside_.is_closed()) {
        const bool quiet =
            idle_.while_still([this](std::uint32_t parked) { return parked == options_.workers && !is_anything_queued(); });
        if (quiet) {
            finish();
        }
    }
    return sleep(me);
}

bool scheduler::sleep(worker& me) noexcept {
    if (ext::driver* in = seat_.driver(); in != nullptr && seat_.try_take()) {
        drive(me, *in);
        return !finished_.load(mo::relaxed);  // S2
    }
    const bool adapts = me.patience.adapts();
    const time_point from = adapts ? now() : time_point();
    if (!finished_.load(mo::relaxed)) {  // S2
        const recorded_park parked(false);
        idle_.sleep(me.sleeper);
    }
    if (adapts) {
        me.patience.slept(now() - from);
    }
    return !finished_.load(mo::relaxed);  // S2
}

void scheduler::drive(worker& me, ext::driver& in) noexcept {
    me.drives = true;
    if (!finished_.load(mo::relaxed)) {  // S2
        const recorded_park parked(true);
        idle_.drive(me.sleeper, in);
    }
    handle_events(me, in);
}

void scheduler::handle_events(worker& me, ext::driver& in) noexcept {
    me.drives = true;
    in.poll();
    me.drives = false;
    seat_.give_back();
}

void scheduler::poll_driver(worker& me) noexcept {
    if (ext::driver* in = seat_.driver(); in != nullptr && seat_.try_take()) {
        handle_events(me, *in);
        if (!outside_.is_empty() && idle_.needs_waking()) {
            idle_.wake_one();
        }
    }
}

ext::reactor* scheduler::make_reactor(std::error_code& why) noexcept {
    const driver_seat::made made = seat_.make_reactor(why);
    if (made.is_new()) {
        idle_.wake_one();  // the others may all be asleep elsewhere
    }
    return made.reactor();
}

// Returns true if a busy worker keeps one item for itself: a thief that has waited long enough may take it.
bool scheduler::is_anything_kept(const worker& me) const noexcept {
    for (unsigned i = 0; i < options_.workers; ++i) {
        if (&workers_[i] != &me && workers_[i].spare() != 0) {
            return true;
        }
    }
    return false;
}

// Returns true if a thief would find work: more than the one item that a worker keeps for itself.
bool scheduler::is_anything_to_get() const noexcept {
    if (!outside_.is_empty()) {
        return true;
    }
    for (unsigned i = 0; i < options_.workers; ++i) {
        if (workers_[i].spare() > 1) {
            return true;
        }
    }
    return false;
}

bool scheduler::is_anything_queued() const noexcept {
    for (unsigned i = 0; i < options_.workers; ++i) {
        if (workers_[i].deque.size_approx() != 0 || !workers_[i].inbox.is_empty()) {
            return true;
        }
    }
    return !outside_.is_empty();
}

}  // namespace roost::inline ROOST_ABI::detail
