#include <roost/runtime/loop.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "fake_driver.hpp"

#include <optional>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

struct item : work {
    item() : work(+[](work& w) noexcept { static_cast<item&>(w).ran.set(1); }) {}
    plain<int> content{0};
    plain<int> ran{0};
};

MODEL(loop, RUN_30_post_or_sleep) {
    loop l;
    struct last : work {
        explicit last(loop& of) : work(+[](work& w) noexcept { static_cast<last&>(w).of_->close(); }), of_(&of) {}
        loop* of_;
    } end(l);
    thread poster([&] { rt::check(l.post(end), "open"); });
    l.run();
    poster.join();
}

MODEL(loop, RUN_30_close_or_post) {
    loop l;
    item i;
    bool accepted = false;
    thread poster([&] { accepted = l.post(i); });
    l.close();
    l.run();
    poster.join();
    rt::check(i.ran.get() == (accepted ? 1 : 0), "accepted and run, or refused");
}

// Ends the loop that it runs on.
struct stopping : work {
    explicit stopping(loop& of) : work(+[](work& w) noexcept { static_cast<stopping&>(w).of_->stop(); }), of_(&of) {}
    loop* of_;
};

// RUN-150: what was posted ends run(), and the loop goes while the thread that posted it is still inside post().
MODEL(loop, RUN_150_post_then_end) {
    std::optional<loop> l(std::in_place);
    stopping end(*l);
    thread poster([&to = *l, &end] { rt::check(to.post(end), "open"); });
    l->run();
    l.reset();
    poster.join();
}

MODEL(loop, RUN_150_stop_then_end) {
    std::optional<loop> l(std::in_place);
    thread stopper([&to = *l] { to.stop(); });
    l->run();
    l.reset();
    stopper.join();
}

MODEL(loop, RUN_150_close_then_end) {
    std::optional<loop> l(std::in_place);
    thread closer([&to = *l] { to.close(); });
    l->run();
    l.reset();
    closer.join();
}

MODEL(loop, RUN_30_stop_or_sleep) {
    loop l;
    plain<int> reason{0};
    thread stopper([&] {
        reason.set(1);
        l.stop();
    });
    l.run();
    rt::check(reason.get() == 1, "what was done before stop() is seen after run()");
    stopper.join();
}

MODEL(loop, IO_81_post_or_park_in_the_driver) {
    test_support::fake_driver in;
    loop l("loop", &in);
    stopping end(l);
    thread poster([&] { rt::check(l.post(end), "open"); });
    l.run();
    poster.join();
}

MODEL(loop, IO_81_event_or_park) {
    test_support::fake_driver in;
    loop l("loop", &in);
    stopping end(l);
    in.bind(l, end);
    thread kernel([&] { in.happen(); });
    l.run();
    kernel.join();
}

MODEL(loop, IO_83_close_while_it_drives) {
    test_support::fake_driver in;
    loop l("loop", &in);
    thread closer([&] { l.close(); });
    l.run();
    closer.join();
}

}  // namespace
