#include <roost/asio/detail/operation_state.hpp>
#include <roost/testing/explore_gtest.hpp>

// The beginning thread, the handler and an emission hold one frame; the last of them takes it. Here the frame is a block of
// memory, and taking it is freeing it: a holder that touches it afterwards, or whose writes the taker cannot see, is found.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;
using namespace roost::detail;

struct frame {
    detail::state_word<operation_state> state;
    plain<int> begun{0};     // written by the beginning thread
    plain<int> result{0};    // written by the handler
    plain<int> signal{0};    // written by emissions
    small_mutex lock;
    plain<bool> executor{true};  // read by emissions, released by the handler or the last holder
    atomic<int>* taken;
    const bool frees;  // false: the woken body would wait for the canceller first

    explicit frame(atomic<int>& t, bool is_freed = true) noexcept : taken(&t), frees(is_freed) {}

    // Called by the last holder; no other thread may touch the frame any more.
    void take() noexcept {
        rt::check(begun.get() == 1 && result.get() == 1, "all holders have left, and what they wrote is there");
        rt::check(signal.get() >= 0, "no emission is under way");
        rt::check(!executor.get(), "its executor has been released");
        taken->fetch_add(1, mo::relaxed);
        if (frees) {
            delete this;
        }
    }
};

void emit(frame& f) {
    for (;;) {
        if (f.state.transition(begin_emission) == operation_action::emit) {
            f.signal.set(f.signal.get() + 1);
        }
        const auto action = f.state.transition(end_emission);
        if (action == operation_action::emit) {
            continue;
        }
        if (action == operation_action::go_on) {
            f.take();
        }
        return;
    }
}

// Dropped or run, as the operation's executor pleases.
void post_emission(frame& f) {
    f.lock.lock();
    static_cast<void>(f.executor.get());
    f.lock.unlock();
    if (rt::choose(2) == 0) {
        emit(f);
    } else if (f.state.transition(emission_dropped) == operation_action::go_on) {
        f.take();
    }
}

void begin(frame& f) {
    f.begun.set(1);
    switch (f.state.transition(begin_returned)) {
        case operation_action::go_on:
            f.executor.set(false);
            f.take();
            break;
        case operation_action::emit: post_emission(f); break;
        default: break;
    }
}

void handle(frame& f) {
    f.result.set(1);
    auto action = f.state.transition(handler_left_unasked);
    if (action == operation_action::asked) {
        f.lock.lock();
        f.executor.set(false);
        f.lock.unlock();
        action = f.state.transition(handler_left);
    } else if (action == operation_action::go_on) {
        f.executor.set(false);
    }
    if (action == operation_action::go_on) {
        f.take();
    }
}

// The region's lock keeps the frame alive for a canceller; here it is that no thread has taken it yet, which
// the canceller learns before it asks: a frame that waits for its own emission is not taken.
void ask_for(frame& f, wish what) {
    if (f.state.transition([what](operation_state s) { return ask(s, what); }) == operation_action::emit) {
        post_emission(f);
    }
}

MODEL(operation_state, ASIO_4_begin_or_handler_is_last) {
    atomic<int> taken{0};
    auto* f = new frame(taken);
    thread handler([&] { handle(*f); });
    begin(*f);
    handler.join();
    rt::check(taken.load(mo::relaxed) == 1, "taken once");
}

// A cancel that is asked for before the initiating function returns: the thread that returns from it begins the emission.
MODEL(operation_state, ASIO_4_early_cancel_against_the_handler) {
    atomic<int> taken{0};
    auto* f = new frame(taken);
    ask_for(*f, wish::cancel);
    thread handler([&] { handle(*f); });
    begin(*f);
    handler.join();
    rt::check(taken.load(mo::relaxed) == 1, "taken once");
}

// Stop and cancel from two threads while an emission is under way: the handler waits for neither, the frame for both.
MODEL(operation_state, ASIO_4_stop_then_cancel_against_the_handler) {
    atomic<int> taken{0};
    auto* f = new frame(taken);
    f->begun.set(1);
    static_cast<void>(f->state.transition(begin_returned));
    static_cast<void>(f->state.transition([](operation_state s) { return ask(s, wish::stop); }));
    // From here on an emission holds the frame, so asking once more is safe until it has left.
    thread handler([&] { handle(*f); });
    if (f->state.transition([](operation_state s) { return ask(s, wish::cancel); }) == operation_action::emit) {
        rt::check(false, "there is an emission already: it looks again");
    }
    post_emission(*f);
    handler.join();
    rt::check(taken.load(mo::relaxed) == 1, "taken once");
}

// A cancel that comes while the handler leaves: the handler may release the executor without the lock only if no emission can
// use it any more.
MODEL(operation_state, ASIO_4_late_cancel_against_the_handler) {
    atomic<int> taken{0};
    frame f(taken, false);
    f.begun.set(1);
    static_cast<void>(f.state.transition(begin_returned));
    thread canceller([&] { ask_for(f, wish::cancel); });
    handle(f);
    canceller.join();
    rt::check(taken.load(mo::relaxed) == 1, "taken once");
}

}  // namespace
