#include <roost/asio/detail/operation_state.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <vector>

namespace {

using namespace roost;
using namespace roost::detail;

// One party per row: what it has yet to do. Everything a program can do, in every order.
struct world {
    operation_state s;
    bool begins = true;      // the initiating thread has not returned
    bool handler = true;     // the handler is out
    int emission = 0;        // 0 none, 1 posted, 2 running
    bool stops = true;       // a stop may still be requested
    bool cancels = true;     // and for cancel
    bool resumed = false;

    [[nodiscard]] std::vector<int> key() const {
        return {static_cast<int>(s.pack()), begins, handler, emission, stops, cancels, resumed};
    }
};

class search {
public:
    void run() {
        push(world());
        while (!todo_.empty()) {
            const world w = todo_.front();
            todo_.pop_front();
            check(w);
            step_all(w);
        }
    }
    std::size_t states = 0;
    std::size_t ends = 0;

private:
    void push(const world& w) {
        if (seen_.insert(w.key()).second) {
            todo_.push_back(w);
            ++states;
        }
    }
    void check(const world& w) {
        EXPECT_EQ(operation_state::unpack(w.s.pack()), w.s);
        EXPECT_EQ(w.s.emitting, w.emission != 0) << "an emission is on its way exactly while the word says so";
        if (w.resumed) {
            EXPECT_FALSE(w.begins || w.handler || w.emission != 0) << "resumed while the frame is held";
        }
        if (!w.begins && !w.handler && w.emission == 0) {
            EXPECT_TRUE(w.resumed) << "no holder is left to resume it";
            ++ends;
        }
        if (!w.begins && w.handler && w.emission == 0) {
            EXPECT_TRUE(w.s.emitted == w.s.wanted) << "a wish was forgotten";
        }
    }
    void apply(world w, const operation_step& step, bool was_in_emission = false) {
        if (step.next) {
            w.s = *step.next;
        }
        if (step.action == operation_action::go_on) {
            EXPECT_FALSE(w.resumed) << "resumed twice";
            w.resumed = true;
        } else if (step.action == operation_action::emit && !was_in_emission) {
            EXPECT_EQ(w.emission, 0) << "two emissions at once";
            w.emission = 1;
        }
        push(w);
    }
    void step_all(const world& w) {
        if (w.begins) {
            world n = w;
            n.begins = false;
            apply(n, begin_returned(w.s));
        }
        if (w.handler) {
            world n = w;
            n.handler = false;
            const operation_step unasked = handler_left_unasked(w.s);
            EXPECT_EQ(unasked.action == operation_action::asked, w.s.wanted != wish::nothing);
            EXPECT_TRUE(unasked.next || unasked.action == operation_action::asked);
            apply(n, unasked.next ? unasked : handler_left(w.s));
        }
        // Requests come while the frame is held only: the body unregisters before it goes on.
        if (w.stops && !w.resumed) {
            world n = w;
            n.stops = false;
            apply(n, ask(w.s, wish::stop));
        }
        if (w.cancels && !w.resumed) {
            world n = w;
            n.cancels = false;
            apply(n, ask(w.s, wish::cancel));
        }
        step_emission(w);
    }
    void step_emission(const world& w) {
        if (w.emission == 1) {
            world n = w;
            n.emission = 2;
            apply(n, begin_emission(w.s), true);
            world dropped = w;
            dropped.emission = 0;
            apply(dropped, emission_dropped(w.s));
        } else if (w.emission == 2) {
            const operation_step step = end_emission(w.s);
            world n = w;
            n.emission = step.action == operation_action::emit ? 1 : 0;
            apply(n, step, true);
        }
    }

    std::set<std::vector<int>> seen_;
    std::deque<world> todo_;
};

TEST(operation_state, ASIO_4_every_order_resumes_once_and_last) {
    search all;
    all.run();
    EXPECT_GT(all.states, 50U);
    EXPECT_GT(all.ends, 5U);
}

static_assert(!ask(handler_left(operation_state()).next.value(), wish::cancel).next,
              "a cancel that comes after the handler changes nothing");

}  // namespace
