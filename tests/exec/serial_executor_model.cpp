// Two threads post, each running what it is given: one body at a time, each exactly once, and the executor may go when both ran.
#include <roost/exec/serial_executor.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <memory>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;

class shared_place {
public:
    plain<int> ran{0};  // a body at a time: a second one beside it is a race that the explorer sees
    atomic<std::uint32_t> done{0};
};

class body final : public work {
public:
    explicit body(shared_place& at) : work(&call), at_(&at) {}

private:
    static void call(work& self) noexcept {
        shared_place& at = *static_cast<body&>(self).at_;
        at.ran.set(at.ran.get() + 1);
        at.done.fetch_add(1, mo::seq_cst);
        wake_on(&at.done, 1);
    }
    shared_place* at_;
};

void wait_for(shared_place& at, std::uint32_t count) {
    for (std::uint32_t n = at.done.load(mo::seq_cst); n < count; n = at.done.load(mo::seq_cst)) {
        wait_on(at.done, n);
    }
}

MODEL(serial_executor, RUN_190_one_at_a_time) {
    inline_executor here;
    shared_place at;
    body first(at);
    body second(at);
    auto serial = std::make_unique<serial_executor>(here);
    thread poster([&] { rt::check(serial->post(first), "taken"); });
    rt::check(serial->post(second), "taken");
    poster.join();
    wait_for(at, 2);
    rt::check(at.ran.get() == 2, "RUN-190: each ran once");
}

// The pump may still have to leave when the last body has let the owner go.
MODEL(serial_executor, RUN_192_ends_when_all_bodies_have) {
    inline_executor here;
    shared_place at;
    body first(at);
    body second(at);
    auto serial = std::make_unique<serial_executor>(here);
    serial_executor& posted_to = *serial;
    thread poster([&] { rt::check(posted_to.post(first), "taken"); });
    thread owner([&] {
        wait_for(at, 2);
        serial.reset();
    });
    rt::check(posted_to.post(second), "taken");
    poster.join();
    owner.join();
    rt::check(at.done.load(mo::seq_cst) == 2, "RUN-192: both ran");
}

}  // namespace
