// Every interleaving of an event, a call that would block, a wait, a cancel and a close.

#include <roost/io/detail/readiness.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "../sync/coroutines.hpp"
#include "../sync/held_operation.hpp"

namespace {

using namespace roost::seam;
using roost::io::detail::readiness;
using roost::testing::check;
using sync_testing::held_operation;

// A wait for it alone.
class source {
public:
    explicit source(readiness* of) noexcept : of_(of) {}
    source* operator->() noexcept { return this; }
    const source* operator->() const noexcept { return this; }
    bool try_pass() noexcept { return of_->try_pass(); }
    bool enqueue(roost::ext::waiter& w) noexcept { return of_->enqueue(w); }
    bool cancel(roost::ext::waiter& w, roost::ext::claim as) noexcept { return of_->cancel(w, as); }
    void pass_on(roost::ext::waiter&) noexcept {}
    [[nodiscard]] static roost::ext::wait_target describe() noexcept { return {"readable", "a socket"}; }

private:
    readiness* of_;
};

roost::detail::wait_operation<source> wait(readiness* of) { return roost::detail::wait_operation<source>(source(of)); }

// The kernel's side: data, and an event that follows it.
class socket {
public:
    explicit socket(readiness& of) noexcept : of_(of) {}
    void arrive() noexcept {
        data_.store(1, mo::relaxed);
        message_.set(42);
        of_.set(false);
    }
    [[nodiscard]] bool take() noexcept { return data_.exchange(0, mo::relaxed) != 0; }
    [[nodiscard]] int message() noexcept { return message_.get(); }

private:
    readiness& of_;
    atomic<int> data_{0};
    plain<int> message_{0};
};

MODEL_COMPLETE(readiness_model, IO_10_publish) {
    readiness r(false);
    socket s(r);
    thread kernel([&] { s.arrive(); });
    if (r.look().is_ready()) {
        check(s.message() == 42, "IO-10: what happened before the event is seen");
    }
    kernel.join();
}

MODEL_COMPLETE(readiness_model, IO_10_late_wait) {
    readiness r(false);
    socket s(r);
    plain<int> resumed{0};
    thread kernel([&] { s.arrive(); });
    {
        held_operation waiting(wait(&r), resumed);
        kernel.join();
        check(resumed.get() == 1, "IO-10: an event that has come lets every wait pass");
    }
    check(r.waiters_approx() == 0, "");
}

// A wait that meets the event: the woken side sees what came before.
MODEL_COMPLETE(readiness_model, IO_10_woken_sees_the_event) {
    readiness r(false);
    socket s(r);
    plain<int> seen{0};
    const auto read = [](readiness& of, socket& from, plain<int>& to) -> sync_testing::fire {
        co_await wait(&of);
        to.set(from.message());
    };
    thread kernel([&] { s.arrive(); });
    read(r, s, seen);
    kernel.join();
    check(seen.get() == 42, "IO-10: woken or let through");
}

// One event meets a waiter; a later thread that only looks must see what came before as well.
MODEL_COMPLETE(readiness_model, IO_10_late_pass) {
    readiness r(false);
    socket s(r);
    plain<int> resumed{0};
    held_operation waiting(wait(&r), resumed);
    thread kernel([&] { s.arrive(); });
    if (r.look().is_ready()) {
        check(s.message() == 42, "IO-10");
    }
    kernel.join();
    check(resumed.get() == 1, "");
}

// IO-11: the reader finds nothing and clears what it saw. Data that came meanwhile is not forgotten.
MODEL_COMPLETE(readiness_model, IO_11_clear_vs_event) {
    readiness r(true);
    socket s(r);
    thread kernel([&] { s.arrive(); });
    bool got = false;
    for (int i = 0; i < 2 && !got; ++i) {
        const readiness::snapshot seen = r.look();
        if (!seen.is_ready()) {
            break;
        }
        got = s.take();
        if (!got) {
            r.clear(seen);
        }
    }
    kernel.join();
    check(got || r.look().is_ready(), "IO-11: taken, or still to be tried");
}

MODEL_COMPLETE(readiness_model, IO_12_cancel_vs_event) {
    readiness r(false);
    plain<int> first{0};
    plain<int> second{0};
    held_operation one(wait(&r), first);
    held_operation two(wait(&r), second);
    thread kernel([&] { r.set(false); });
    const bool cancelled = one.operation().try_cancel();
    kernel.join();
    check(first.get() == (cancelled ? 0 : 1) && second.get() == 1, "IO-12: cancelled or woken, the other one is woken");
    check(r.waiters_approx() == 0 && r.look().is_ready(), "");
}

// Two events and the cancel of the last waiter: the second event needs no lock by then.
MODEL_COMPLETE(readiness_model, IO_12_two_events_and_a_cancel) {
    readiness r(false);
    plain<int> resumed{0};
    held_operation waiting(wait(&r), resumed);
    thread a([&] { r.set(false); });
    thread b([&] {
        static_cast<void>(waiting.operation().try_cancel());
        r.set(true);
    });
    a.join();
    b.join();
    check(r.look().is_ready() && r.look().is_ended(), "IO-12: the last event counts");
}

MODEL_COMPLETE(readiness_model, IO_13_close_vs_wait) {
    readiness r(false);
    plain<int> resumed{0};
    thread owner([&] { r.close(); });
    {
        held_operation waiting(wait(&r), resumed);
        owner.join();
        check(resumed.get() == 1, "IO-13: a closed one lets every wait pass");
    }
    check(r.look().is_closed(), "");
}

MODEL_COMPLETE(readiness_model, IO_13_close_vs_event_and_clear) {
    readiness r(true);
    thread owner([&] { r.close(); });
    thread kernel([&] { r.set(false); });
    const readiness::snapshot seen = r.look();
    r.clear(seen);
    owner.join();
    kernel.join();
    check(r.look().is_closed(), "IO-13: closed is final");
}

// IO-14: a time limit claims the waiters, or the event does.
MODEL_COMPLETE(readiness_model, IO_14_expire_vs_event) {
    readiness r(false);
    plain<int> resumed{0};
    held_operation waiting(wait(&r), resumed);
    thread timer([&] { r.take_expired().deliver("a limit"); });
    r.set(false);
    timer.join();
    check(resumed.get() == 1, "IO-14: once");
    check(r.look().is_ready(), "");
}

}  // namespace
