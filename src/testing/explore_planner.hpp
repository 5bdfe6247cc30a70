#pragma once

// Decides which thread goes next, which value a choice takes, and which of the untried alternatives are worth trying.
//
// An execution is a sequence of choices. The planner keeps them as a stack of nodes; the next execution repeats the stack
// up to the deepest node that has an untried alternative. Which alternatives a node has is decided by the search:
//
//   dfs          every enabled thread
//   exhaustive   source sets: after each step, every earlier step of another thread that depends on it and is not ordered
//                before it is a race; the node before that step must also try a thread that leads to the other order.
//                Sleep sets keep it from trying the same order twice.
//   bounded      as above with the classic backtrack sets plus one conservative point per race (where the switch would not
//                count as a preemption), no sleep sets: both reductions are unsound together with a bound
//   random, pct  keeps no record

#include "explore_types.hpp"

#include <string>
#include <vector>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

class planner {
public:
    static constexpr unsigned disagrees = ~0U;  // the body behaved differently from last time

    struct settings {
        search how = search::exhaustive;
        int bound = unbounded;
        std::uint64_t seed = 1;
        std::uint32_t pct_depth = 3;
    };

    void begin_search(const settings& how);
    void begin_execution();
    // Prepares the next execution. Returns false if nothing is left to try.
    [[nodiscard]] bool advance();
    // Repeats the execution just made, without looking for new alternatives.
    void repeat();
    // Follows these choices, then the default ones.
    void follow(const std::string& choices);

    // `enabled` threads can go; `resting` ones could, but have just yielded.
    [[nodiscard]] unsigned pick_thread(thread_mask enabled, thread_mask resting, unsigned previous);
    [[nodiscard]] unsigned pick_value(unsigned count);

    // Records what happened, in the order it happened.
    operation& pending(unsigned thread) noexcept { return pending_[thread]; }
    void executed(unsigned thread, const operation& what);
    void ordered(unsigned after, unsigned before) noexcept { order_[after].join(order_[before]); }

    [[nodiscard]] std::string choices() const;
    [[nodiscard]] std::uint32_t preemptions() const noexcept;
    [[nodiscard]] bool is_redundant() const noexcept { return coasting_; }

private:
    struct node {
        bool is_value = false;
        std::uint8_t chosen = 0;
        std::uint8_t count = 0;       // number of alternatives, for a value
        std::uint8_t tries = 0;       // how many of them this search tries
        std::uint8_t previous = 0;    // the thread that ran before
        std::uint16_t preemptions = 0;
        thread_mask offered = 0;      // what the engine offered, to notice a body that differs from run to run
        thread_mask enabled = 0;
        thread_mask resting = 0;
        thread_mask backtrack = 0;
        thread_mask done = 0;
        thread_mask sleep = 0;
    };
    struct event {
        std::uint8_t thread;
        std::uint32_t node;
        std::uint32_t stamp;
        clock_vector order;
    };
    struct history {  // of one object in this execution
        std::uint32_t execution = 0;
        std::int32_t last_write = -1;
        std::int32_t last_lock = -1;
        thread_mask readers = 0;
        std::array<std::int32_t, max_threads> reads{};
    };
    struct candidates {
        std::array<std::int32_t, 4 * (max_threads + 1)> at;
        unsigned count = 0;
        void add(std::int32_t e) noexcept {
            if (e >= 0) {
                at[count++] = e;
            }
        }
    };

    unsigned repeated_choice(bool is_value, thread_mask enabled, unsigned count);
    unsigned fresh_thread(node& n);
    void set_alternatives(node& n);
    [[nodiscard]] bool within_bound(const node& n, unsigned thread) const noexcept;
    [[nodiscard]] static unsigned cost(const node& n, unsigned thread) noexcept;
    [[nodiscard]] bool reduces() const noexcept { return how_.how == search::exhaustive; }
    [[nodiscard]] bool sleeps() const noexcept { return reduces() && how_.bound == unbounded; }

    history& history_of(std::uint32_t object);
    void find_races(unsigned thread, candidates& seen, const operation& what);
    void remember(const operation& what, unsigned thread);
    void add_source(std::int32_t earlier, unsigned thread, const clock_vector& order);
    void add_classic(std::int32_t earlier, unsigned thread);
    thread_mask initials(std::int32_t earlier, unsigned thread, const clock_vector& order) const;
    std::uint64_t random() noexcept;

    settings how_;
    std::vector<node> stack_;
    std::size_t position_ = 0;
    std::size_t changed_ = 0;      // first node that differs from the execution before
    static constexpr std::size_t no_node = ~std::size_t(0);
    std::size_t last_thread_node_ = no_node;  // in this execution
    thread_mask sleep_ = 0;
    bool coasting_ = false;
    bool following_ = false;
    std::string script_;
    std::size_t script_at_ = 0;

    std::array<operation, max_threads> pending_{};
    std::array<clock_vector, max_threads> order_{};
    std::array<std::uint32_t, max_threads> stamps_{};
    std::vector<event> events_;
    std::vector<history> objects_;
    std::uint32_t execution_ = 0;

    std::uint64_t random_state_ = 1;
    std::array<std::uint64_t, max_threads> priorities_{};
    std::vector<std::size_t> change_points_;
    std::size_t longest_ = 32;
};

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI
