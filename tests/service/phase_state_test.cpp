#include <roost/service/detail/phase_state.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

// Every state that any sequence of events can reach, and what holds in all of them.

namespace roost::service::detail {
namespace {

constexpr phase_event every_event[] = {phase_event::signal,     phase_event::asked,      phase_event::cancel_asked,
                                       phase_event::main_ended, phase_event::phase_done, phase_event::budget_spent,
                                       phase_event::total_spent};
static_assert(std::size(every_event) == phase_event_count);

struct edge {
    phase_state from;
    phase_event event;
    phase_state to;
    phase_effect effect;
};

class reachable {
public:
    reachable() {
        states.push_back(phase_state());
        for (std::size_t i = 0; i < states.size(); ++i) {
            for (const phase_event e : every_event) {
                const phase_step step = advance(states[i], e);
                edges.push_back({states[i], e, step.next(), step.effect()});
                if (std::find(states.begin(), states.end(), step.next()) == states.end()) {
                    states.push_back(step.next());
                }
            }
        }
    }
    std::vector<phase_state> states;
    std::vector<edge> edges;
};

const reachable& all() {
    static const reachable r;
    return r;
}

phase_state after(std::initializer_list<phase_event> events) {
    phase_state s;
    for (const phase_event e : events) {
        s = advance(s, e).next();
    }
    return s;
}

using enum phase_event;

TEST(phase_state, SVC_20_a_phase_is_never_left_for_an_earlier_one) {
    EXPECT_GT(all().states.size(), 40U);
    for (const edge& e : all().edges) {
        EXPECT_GE(e.to.at, e.from.at);
        EXPECT_GE(e.to.signals, e.from.signals);
    }
}

TEST(phase_state, SVC_20_an_effect_comes_with_a_change_and_no_change_without_an_event) {
    for (const edge& e : all().edges) {
        if (e.from == e.to) {
            EXPECT_EQ(e.effect, phase_effect::none);
        }
        if (e.from.at == phase::forced) {
            EXPECT_EQ(e.from, e.to);
        }
    }
}

// No effect twice on any way: after an edge that requests an effect no edge that requests it again can be reached.
TEST(phase_state, SVC_20_an_effect_is_asked_for_once) {
    for (std::uint16_t bit = 1; bit <= static_cast<std::uint16_t>(phase_effect::die);
         bit = static_cast<std::uint16_t>(bit * 2)) {
        const auto effect = static_cast<phase_effect>(bit);
        std::vector<phase_state> later;
        for (const edge& e : all().edges) {
            if (contains(e.effect, effect)) {
                later.push_back(e.to);
            }
        }
        ASSERT_FALSE(later.empty()) << bit;
        for (std::size_t i = 0; i < later.size(); ++i) {
            for (const phase_event event : every_event) {
                const phase_step step = advance(later[i], event);
                EXPECT_FALSE(contains(step.effect(), effect)) << bit;
                if (std::find(later.begin(), later.end(), step.next()) == later.end()) {
                    later.push_back(step.next());
                }
            }
        }
    }
}

TEST(phase_state, SVC_29_what_is_done_is_taken_from_what_is_due_and_nothing_else) {
    for (const edge& e : all().edges) {
        for (unsigned bit = 1; bit <= static_cast<unsigned>(e.effect); bit <<= 1U) {
            const auto one = static_cast<phase_effect>(bit);
            const phase_effect rest = without(e.effect, one);
            EXPECT_FALSE(contains(rest, one));
            EXPECT_EQ(contains(e.effect, one) ? rest | one : rest, e.effect);
        }
    }
}

TEST(phase_state, SVC_2_the_second_signal_cancels_in_every_phase_before_cancel) {
    for (const edge& e : all().edges) {
        if (e.event == signal && e.from.signals == 1 && e.from.at < phase::cancel) {
            EXPECT_EQ(e.to.at, phase::cancel);
            EXPECT_TRUE(contains(e.effect, phase_effect::cancel_work));
            EXPECT_TRUE(e.to.by_signal);
        }
    }
}

TEST(phase_state, SVC_3_the_third_signal_forces_the_end_in_every_phase) {
    for (const edge& e : all().edges) {
        if (e.event == signal && e.from.signals == 2 && e.from.at != phase::forced) {
            EXPECT_EQ(e.to.at, phase::forced);
            EXPECT_TRUE(contains(e.effect, phase_effect::die));
        }
    }
}

TEST(phase_state, SVC_4_the_hard_deadline_forces_the_end_in_every_phase_but_running) {
    for (const edge& e : all().edges) {
        if (e.event == total_spent) {
            EXPECT_EQ(e.to.at, e.from.at == phase::running ? phase::running : phase::forced);
        }
    }
}

// Whatever happened before: when nothing ever gets done, spent budgets alone lead to the end.
TEST(phase_state, SVC_4_spent_budgets_lead_out_of_every_phase) {
    for (phase_state s : all().states) {
        if (s.at == phase::running || s.at == phase::exit) {
            continue;
        }
        for (int i = 0; i < 10 && s.at != phase::forced; ++i) {
            s = advance(s, budget_spent).next();
        }
        EXPECT_EQ(s.at, phase::forced);
    }
}

TEST(phase_state, SVC_26_resources_are_released_only_when_work_is_over) {
    for (const edge& e : all().edges) {
        if (e.to.at == phase::release && e.from.at != phase::release) {
            EXPECT_EQ(e.event, phase_done);
        }
        if (e.to.at == phase::exit && e.from.at != phase::exit) {
            EXPECT_EQ(e.from.at, phase::release);
            EXPECT_EQ(e.event, phase_done);
        }
        if (contains(e.effect, phase_effect::cancel_resources)) {
            EXPECT_EQ(e.from.at, phase::release);
        }
    }
}

TEST(phase_state, SVC_24_work_is_cancelled_only_on_request_or_when_time_is_up) {
    for (const edge& e : all().edges) {
        if (contains(e.effect, phase_effect::cancel_work)) {
            const bool asked_for = e.event == cancel_asked || (e.event == signal && e.from.signals == 1);
            const bool time_is_up = e.event == budget_spent && e.from.at == phase::drain;
            EXPECT_TRUE(asked_for || time_is_up);
        }
        if (e.from.at >= phase::cancel && e.from.at <= phase::abort) {
            EXPECT_TRUE(e.from.was_cancelled());
        }
    }
}

TEST(phase_state, SVC_21_shutdown_begins_with_not_being_ready) {
    for (const edge& e : all().edges) {
        EXPECT_EQ(contains(e.effect, phase_effect::not_ready), e.from.at == phase::running && e.to.at != phase::running);
    }
}

TEST(phase_state, SVC_22_the_way_of_a_clean_end) {
    EXPECT_EQ(after({signal}).at, phase::lame_duck);
    EXPECT_EQ(after({signal, budget_spent}).at, phase::stop_intake);
    EXPECT_EQ(after({signal, budget_spent, phase_done}).at, phase::drain);
    EXPECT_EQ(after({signal, budget_spent, budget_spent}).at, phase::drain);
    EXPECT_EQ(after({signal, budget_spent, phase_done, phase_done}).at, phase::release);
    const phase_state end = after({signal, budget_spent, phase_done, phase_done, phase_done});
    EXPECT_EQ(end.at, phase::exit);
    EXPECT_EQ(exit_code_of(end, 15, false, 0, 0), 0);
}

TEST(phase_state, SVC_28_the_program_itself_may_ask) {
    EXPECT_EQ(after({asked}), after({asked, asked}));
    EXPECT_EQ(after({asked, signal}).at, phase::lame_duck);  // the operator's first signal does not cancel
    EXPECT_EQ(after({asked, cancel_asked}).at, phase::cancel);
    EXPECT_EQ(after({main_ended}).at, phase::stop_intake);
}

TEST(phase_state, SVC_24_exit_codes) {
    const auto code = [](std::initializer_list<phase_event> events, int number, bool lost = false, int own = 0) {
        return exit_code_of(after(events), number, lost, 0, own);
    };
    EXPECT_EQ(code({main_ended, phase_done, phase_done, phase_done}, 0, false, 7), 7);
    EXPECT_EQ(code({signal, signal, phase_done, phase_done}, 2), 130);
    EXPECT_EQ(code({signal, budget_spent, phase_done, budget_spent, phase_done, phase_done}, 15), 124);
    EXPECT_EQ(code({signal, signal, signal}, 15), 143);
    EXPECT_EQ(code({asked, total_spent}, 0), 124);
    EXPECT_EQ(code({asked, cancel_asked, phase_done, phase_done}, 0), 0);
    EXPECT_EQ(code({signal, budget_spent, phase_done, phase_done, phase_done}, 15, true), 70);
    // A budget that was spent says more about the end than what the root task returned.
    EXPECT_EQ(code({signal, budget_spent, phase_done, budget_spent, phase_done, phase_done}, 15, false, 7), 124);
}

TEST(phase_state, SVC_102_a_failure_outranks_what_shutdown_did_afterwards) {
    const auto code = [](std::initializer_list<phase_event> events, int number, int failure, bool lost = false) {
        return exit_code_of(after(events), number, lost, failure, 0);
    };
    using namespace exit_code;
    const auto clean_end = {asked, budget_spent, phase_done, phase_done, phase_done};
    EXPECT_EQ(code(clean_end, 0, component_failed), 3);
    EXPECT_EQ(code(clean_end, 0, main_failed), 1);
    EXPECT_EQ(code({signal, budget_spent, phase_done, budget_spent, phase_done, phase_done}, 15, component_failed), 3);
    EXPECT_EQ(code({signal, signal, phase_done, phase_done}, 2, main_failed), 1);
    EXPECT_EQ(code({asked, total_spent}, 0, component_failed), 3);
    EXPECT_EQ(code({asked, total_spent}, 0, main_failed), 1);
    EXPECT_EQ(code({signal, signal, signal}, 15, component_failed), 143);  // the operator has the last word
    EXPECT_EQ(code(clean_end, 0, component_failed, true), 70);
}

TEST(phase_state, SVC_20_who_has_cancelled_is_kept) {
    EXPECT_FALSE(phase_state().was_cancelled());
    EXPECT_TRUE(after({signal, signal}).was_cancelled());
    EXPECT_TRUE(after({cancel_asked}).was_cancelled());
    EXPECT_TRUE(after({main_ended, phase_done, budget_spent}).was_cancelled());
    EXPECT_NE(after({signal}), phase_state());
    phase_state other;
    other.by_request = true;
    EXPECT_NE(other, phase_state());
}

}  // namespace
}  // namespace roost::service::detail
