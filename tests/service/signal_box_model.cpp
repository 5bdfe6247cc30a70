// Handlers on threads of their own against threads that read, listen and stop listening (SVC-8, SVC-9, SVC-10, SVC-90).

#include <roost/service/detail/signal_box.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::seam::plain;
using roost::seam::thread;
using roost::service::detail::handled;
using roost::service::detail::signal_box;
using roost::service::detail::signal_counts;
using roost::service::detail::unknown_sender;
using roost::testing::check;

constexpr std::size_t term = 0;
constexpr auto nobody = [](int) noexcept {};
constexpr auto pause = []() noexcept { roost::seam::yield_thread(); };

// A signal that is counted has a sender.
MODEL(signal_box_model, read_vs_handler) {
    signal_box box;
    thread handler([&] { box.arrived(term, 42, nobody); });
    const signal_counts seen = box.read();
    check(seen.of(handled::term) == 0 || seen.sender_of(handled::term, 0) == 42, "SVC-8: who sent it is known with it");
    handler.join();
    check(box.read().of(handled::term) == 1, "SVC-9: it came once");
}

// Two at once, on two threads: none is lost, and neither takes the other's place.
MODEL(signal_box_model, two_handlers) {
    signal_box box;
    thread one([&] { box.arrived(term, 41, nobody); });
    box.arrived(term, 42, nobody);
    one.join();
    const signal_counts seen = box.read();
    check(seen.of(handled::term) == 2, "SVC-9: both are counted");
    const int first = seen.sender_of(handled::term, 0);
    const int second = seen.sender_of(handled::term, 1);
    check(first + second == 83 && first != second, "SVC-8: both senders are known");
}

// A signal that arrives while a thread begins to listen rings, or is seen by that thread.
MODEL(signal_box_model, listen_vs_handler) {
    signal_box box;
    plain<int> rung{0};
    thread handler([&] { box.arrived(term, 42, [&](int) noexcept { rung.set(rung.get() + 1); }); });
    const bool seen = box.listen(3, -1, pause);
    handler.join();
    check(seen || rung.get() == 1, "SVC-10: what comes while run() begins is not slept through");
}

// I1: when the listener has left, its descriptor is rung no more; what was rung before has happened.
MODEL(signal_box_model, close_vs_handler) {
    signal_box box;
    check(!box.listen(3, 4, pause), "SVC-9: nothing has come");
    plain<bool> open{true};
    thread handler([&] {
        box.arrived(term, 42,
                    [&](int) noexcept { check(open.get(), "SVC-90: no handler rings a descriptor that is closed"); });
    });
    static_cast<void>(box.listen(-1, -1, pause));
    open.set(false);
    handler.join();
}

// I1 with two handlers: the first that is out does not let the listener leave under the other.
MODEL(signal_box_model, close_vs_two_handlers) {
    signal_box box;
    static_cast<void>(box.listen(3, -1, pause));
    plain<bool> open{true};
    const auto arrives = [&] {
        box.arrived(term, 42,
                    [&](int) noexcept { check(open.get(), "SVC-90: no handler rings a descriptor that is closed"); });
    };
    thread one(arrives);
    thread two(arrives);
    static_cast<void>(box.listen(-1, -1, pause));
    open.set(false);
    one.join();
    two.join();
}

}  // namespace
