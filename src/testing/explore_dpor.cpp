#include "explore_planner.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <algorithm>
#include <bit>

// Partial-order reduction: finds the earlier choice that must be tried the other way round because of the step just made.
//
// Every step carries a vector clock of the order that matters (program order, dependent steps, wakes, joins). A step races
// with an earlier dependent step of another thread if the clock of its own thread did not know that step yet and no step in
// between does. The source-set rule follows Abdulla, Aronis, Jonsson and Sagonas (2014).

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

planner::history& planner::history_of(std::uint32_t object) {
    if (object >= objects_.size()) {
        objects_.resize(object + 64);
    }
    history& h = objects_[object];
    if (h.execution != execution_) {
        h.execution = execution_;
        h.last_write = -1;
        h.last_lock = -1;
        h.readers = 0;
    }
    return h;
}

void planner::executed(unsigned thread, const operation& what) {
    const auto node_index = static_cast<std::uint32_t>(last_thread_node_);
    if (reduces()) {
        candidates seen;
        clock_vector& mine = order_[thread];
        for (unsigned i = 0; i < what.count; ++i) {
            const history& h = history_of(what.touched[i].object);
            // A lock cannot be taken earlier than the unlock before it; only the order of the two lock operations can be
            // swapped.
            const bool locks = what.op == model_op::lock && what.touched[i].write;
            seen.add(locks ? h.last_lock : h.last_write);
            if (what.touched[i].write && !locks) {
                for (thread_mask r = h.readers; r != 0; r &= r - 1) {
                    seen.add(h.reads[static_cast<unsigned>(std::countr_zero(r))]);
                }
            }
        }
        const std::uint32_t stamp = ++stamps_[thread];
        find_races(thread, seen, what);
        for (unsigned i = 0; i < what.count; ++i) {
            const std::int32_t write = history_of(what.touched[i].object).last_write;
            if (write >= 0) {
                mine.join(events_[static_cast<std::size_t>(write)].order);
            }
        }
        mine.at[thread] = stamp;
        events_.push_back(event{static_cast<std::uint8_t>(thread), node_index, stamp, mine});
        remember(what, thread);
    }
    if (sleeps() && position_ >= stack_.size() && !stack_.empty()) {
        const node& n = stack_[node_index];
        thread_mask asleep = (n.sleep | n.done) & ~bit(thread);
        sleep_ = 0;
        for (; asleep != 0; asleep &= asleep - 1) {
            const auto q = static_cast<unsigned>(std::countr_zero(asleep));
            if (!dependent(pending_[q], what)) {
                sleep_ |= bit(q);
            }
        }
    }
}

void planner::find_races(unsigned thread, candidates& seen, const operation& what) {
    clock_vector& mine = order_[thread];
    std::sort(seen.at.begin(), seen.at.begin() + seen.count, std::greater<>());
    const bool look = position_ > changed_ && !coasting_ && !following_;
    for (unsigned i = 0; i < seen.count; ++i) {
        const event& earlier = events_[static_cast<std::size_t>(seen.at[i])];
        if (earlier.thread == thread || earlier.stamp <= mine.at[earlier.thread]) {
            continue;
        }
        mine.join(earlier.order);
        if (!look) {
            continue;
        }
        if (sleeps()) {
            clock_vector order = mine;
            for (unsigned k = 0; k < what.count; ++k) {
                const std::int32_t write = history_of(what.touched[k].object).last_write;
                if (write >= 0 && !(what.op == model_op::lock && what.touched[k].write)) {
                    order.join(events_[static_cast<std::size_t>(write)].order);
                }
            }
            add_source(seen.at[i], thread, order);
        } else {
            add_classic(seen.at[i], thread);
        }
    }
}

void planner::remember(const operation& what, unsigned thread) {
    const auto index = static_cast<std::int32_t>(events_.size() - 1);
    for (unsigned i = 0; i < what.count; ++i) {
        history& h = history_of(what.touched[i].object);
        if (what.touched[i].write) {
            h.last_write = index;
            h.readers = 0;
            if (what.op == model_op::lock || what.op == model_op::try_lock) {
                h.last_lock = index;
            }
        } else {
            h.reads[thread] = index;
            h.readers |= bit(thread);
        }
    }
}

// Returns threads that can start a sequence which ends with the new step and leaves the earlier one out.
thread_mask planner::initials(std::int32_t earlier, unsigned thread, const clock_vector& order) const {
    const event& e = events_[static_cast<std::size_t>(earlier)];
    std::array<std::uint32_t, max_threads> first{};
    thread_mask inside = 0;
    thread_mask starters = 0;
    const auto depends = [&](const clock_vector& clock) {
        for (thread_mask m = inside; m != 0; m &= m - 1) {
            const auto t = static_cast<unsigned>(std::countr_zero(m));
            if (clock.at[t] >= first[t]) {
                return true;
            }
        }
        return false;
    };
    for (std::size_t i = static_cast<std::size_t>(earlier) + 1; i < events_.size(); ++i) {
        const event& d = events_[i];
        if ((inside & bit(d.thread)) != 0 || d.order.at[e.thread] >= e.stamp) {
            continue;
        }
        if (!depends(d.order)) {
            starters |= bit(d.thread);
        }
        inside |= bit(d.thread);
        first[d.thread] = d.stamp;
    }
    if ((inside & bit(thread)) == 0 && !depends(order)) {
        starters |= bit(thread);
    }
    return starters;
}

void planner::add_source(std::int32_t earlier, unsigned thread, const clock_vector& order) {
    node& n = stack_[events_[static_cast<std::size_t>(earlier)].node];
    const thread_mask starters = initials(earlier, thread, order);
    if ((starters & (n.backtrack | n.done)) != 0) {
        return;
    }
    const thread_mask able = starters & n.enabled;
    if (able != 0) {
        n.backtrack |= (able & bit(thread)) != 0 ? bit(thread) : (able & (~able + 1));
    } else if ((starters & n.resting) == 0) {
        n.backtrack |= n.enabled;
    }
}

void planner::add_classic(std::int32_t earlier, unsigned thread) {
    const event& e = events_[static_cast<std::size_t>(earlier)];
    const auto add = [&](node& n) {
        if ((n.resting & bit(thread)) == 0) {
            n.backtrack |= (n.enabled & bit(thread)) != 0 ? bit(thread) : n.enabled;
        }
    };
    add(stack_[e.node]);
    // Where the earlier step's thread was switched to, another choice costs no preemption.
    std::size_t i = e.node;
    for (std::size_t k = e.node + 1; k-- > 0;) {
        if (stack_[k].is_value) {
            continue;
        }
        if (stack_[k].chosen != e.thread) {
            break;
        }
        i = k;
    }
    add(stack_[i]);
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
