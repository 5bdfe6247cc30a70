#include "explore_planner.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <bit>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

unsigned lowest(thread_mask mask) noexcept { return static_cast<unsigned>(std::countr_zero(mask)); }

}  // namespace

std::uint64_t planner::random() noexcept {
    random_state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = random_state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

void planner::begin_search(const settings& how) {
    how_ = how;
    random_state_ = how.seed;
    stack_.clear();
    script_.clear();
    following_ = false;
    changed_ = 0;
    longest_ = 32;
}

void planner::begin_execution() {
    position_ = 0;
    last_thread_node_ = no_node;
    sleep_ = 0;
    coasting_ = false;
    script_at_ = 0;
    events_.clear();
    order_.fill({});
    stamps_.fill(0);
    ++execution_;
    if (how_.how == search::pct) {
        for (std::uint64_t& p : priorities_) {
            p = random() | (std::uint64_t(1) << 63U);
        }
        change_points_.clear();
        for (std::uint32_t i = 1; i < how_.pct_depth; ++i) {
            change_points_.push_back(random() % longest_);
        }
    }
}

void planner::repeat() { changed_ = stack_.size(); }

void planner::follow(const std::string& choices) {
    stack_.clear();
    changed_ = 0;
    following_ = true;
    script_ = choices;
}

bool planner::advance() {
    following_ = false;
    if (how_.how == search::random || how_.how == search::pct) {
        longest_ = stack_.size() > longest_ ? stack_.size() : longest_;
        stack_.clear();
        changed_ = 0;
        return true;
    }
    while (!stack_.empty()) {
        node& n = stack_.back();
        if (n.is_value) {
            if (n.chosen + 1U < n.tries) {
                ++n.chosen;
                changed_ = stack_.size() - 1;
                return true;
            }
        } else {
            n.done |= bit(n.chosen);
            thread_mask left = n.backtrack & ~n.done & ~n.sleep;
            for (; left != 0; left &= left - 1) {
                const unsigned thread = lowest(left);
                if (within_bound(n, thread)) {
                    n.chosen = static_cast<std::uint8_t>(thread);
                    changed_ = stack_.size() - 1;
                    return true;
                }
            }
        }
        stack_.pop_back();
    }
    return false;
}

unsigned planner::cost(const node& n, unsigned thread) noexcept {
    return thread != n.previous && (n.enabled & bit(n.previous)) != 0 ? 1 : 0;
}

bool planner::within_bound(const node& n, unsigned thread) const noexcept {
    return how_.bound < 0 || n.preemptions + cost(n, thread) <= static_cast<unsigned>(how_.bound);
}

unsigned planner::repeated_choice(bool is_value, thread_mask enabled, unsigned count) {
    node& n = stack_[position_++];
    if (n.is_value != is_value || (is_value ? n.count != count : n.offered != enabled)) {
        return disagrees;
    }
    if (!is_value) {
        last_thread_node_ = position_ - 1;
    }
    return n.chosen;
}

unsigned planner::pick_thread(thread_mask enabled, thread_mask resting, unsigned previous) {
    if (position_ < stack_.size()) {
        return repeated_choice(false, enabled, 0);
    }
    node n;
    n.previous = static_cast<std::uint8_t>(previous);
    n.offered = enabled;
    n.enabled = enabled;
    n.resting = resting;
    n.sleep = sleep_;
    if (last_thread_node_ != no_node) {
        const node& before = stack_[last_thread_node_];
        n.preemptions = static_cast<std::uint16_t>(before.preemptions + cost(before, before.chosen));
    }
    n.chosen = static_cast<std::uint8_t>(fresh_thread(n));
    set_alternatives(n);
    last_thread_node_ = position_;
    stack_.push_back(n);
    ++position_;
    return n.chosen;
}

// The first choice at a new node: keep running the same thread if it can, so the first execution has no preemption.
unsigned planner::fresh_thread(node& n) {
    if (following_ && script_at_ < script_.size()) {
        const unsigned wanted = static_cast<unsigned>(script_[script_at_++] - '0');
        if (wanted < max_threads && ((n.enabled | n.resting) & bit(wanted)) != 0) {
            return wanted;
        }
    }
    thread_mask able = n.enabled;
    if (how_.how == search::random && !following_) {
        for (std::uint64_t skip = random() % static_cast<unsigned>(std::popcount(able)); skip > 0; --skip) {
            able &= able - 1;
        }
        return lowest(able);
    }
    if (how_.how == search::pct && !following_) {
        unsigned best = lowest(able);
        for (; able != 0; able &= able - 1) {
            best = priorities_[lowest(able)] > priorities_[best] ? lowest(able) : best;
        }
        for (std::size_t i = 0; i < change_points_.size(); ++i) {
            if (change_points_[i] == position_) {
                priorities_[best] = i + 1;
            }
        }
        return best;
    }
    if (sleeps() && !coasting_) {
        able = n.enabled & ~n.sleep;
        if (able == 0 && (n.resting & ~n.sleep) != 0) {
            able = n.resting & ~n.sleep;
            n.enabled |= able;
        }
        if (able == 0) {
            coasting_ = true;  // every continuation has been seen in another order; finish quietly so that nothing leaks
            able = n.enabled;
        }
    }
    return (able & bit(n.previous)) != 0 ? n.previous : lowest(able);
}

void planner::set_alternatives(node& n) {
    n.backtrack = bit(n.chosen);
    if (how_.how == search::dfs && !following_) {
        n.backtrack = n.enabled;
    }
}

unsigned planner::pick_value(unsigned count) {
    if (count <= 1) {
        return 0;
    }
    if (position_ < stack_.size()) {
        return repeated_choice(true, 0, count);
    }
    node n;
    n.is_value = true;
    n.count = static_cast<std::uint8_t>(count);
    n.tries = static_cast<std::uint8_t>(coasting_ ? 1 : count);
    if (following_) {
        if (script_at_ < script_.size()) {
            n.chosen = static_cast<std::uint8_t>(script_[script_at_++] - 'a');
            n.chosen = n.chosen < count ? n.chosen : 0;
        }
    } else if (how_.how == search::random || how_.how == search::pct) {
        n.chosen = static_cast<std::uint8_t>(random() % count);
    }
    stack_.push_back(n);
    ++position_;
    return n.chosen;
}

std::string planner::choices() const {
    std::string text;
    for (std::size_t i = 0; i < position_ && i < stack_.size(); ++i) {
        text.push_back(static_cast<char>((stack_[i].is_value ? 'a' : '0') + stack_[i].chosen));
    }
    return text;
}

std::uint32_t planner::preemptions() const noexcept {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < position_ && i < stack_.size(); ++i) {
        sum += stack_[i].is_value ? 0 : cost(stack_[i], stack_[i].chosen);
    }
    return sum;
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
