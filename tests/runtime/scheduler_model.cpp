#include <roost/runtime/detail/scheduler.hpp>
#include <roost/testing/explore_gtest.hpp>

#include "fake_driver.hpp"

#include <chrono>
#include <optional>

// The shipped scheduler as a whole: what is accepted runs, and the workers end.

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;
using namespace roost::seam;
using detail::scheduler;

struct item : work {
    item()
        : work(+[](work& w) noexcept {
              auto& me = static_cast<item&>(w);
              me.ran.fetch_add(1, mo::relaxed);
              if (me.child != nullptr) {
                  rt::check(me.where->post(*me.child), "posting from a worker always works");
              }
          }) {}
    atomic<int> ran{0};
    item* child = nullptr;
    executor* where = nullptr;
};

detail::scheduler_options of(unsigned workers) {
    detail::scheduler_options o;
    o.workers = workers;
    o.search_rounds = 1;
    o.patient_rounds = 0;
    return o;
}

TEST(scheduler_of, RUN_15_close_or_post) {
    EXPECT_EXPLORED({.seconds = 10}, [] {
        item i;
        bool accepted = false;
        {
            scheduler s(of(1));
            thread poster([&] { accepted = s.post(i); });
            s.close();
            s.join();
            poster.join();
        }
        rt::check(i.ran.load(mo::relaxed) == (accepted ? 1 : 0), "accepted and run, or refused");
    });
}

// RUN-150: what was posted tells its owner, and the executor goes while the thread that posted is still inside post().
TEST(scheduler_of, RUN_150_post_then_end) {
    struct telling : work {
        explicit telling(atomic<std::uint32_t>& done)
            : work(+[](work& w) noexcept {
                  atomic<std::uint32_t>& word = static_cast<telling&>(w).done_;
                  word.store(1, mo::release);
                  wake_on(&word, 1);
              }),
              done_(done) {}
        atomic<std::uint32_t>& done_;
    };
    EXPECT_EXPLORED({.seconds = 10}, [] {
        atomic<std::uint32_t> done{0};
        telling last(done);
        std::optional<scheduler> s(std::in_place, of(1));
        thread poster([&to = *s, &last] { rt::check(to.post(last), "open"); });
        while (done.load(mo::acquire) == 0) {
            wait_on(done, 0);
        }
        s.reset();
        poster.join();
    });
}

// RUN-152: only the first of two that find nothing queued wakes; the other one's work is taken with it.
TEST(scheduler_of, RUN_152_two_post_to_a_sleeping_worker) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        item first;
        item second;
        {
            scheduler s(of(1));
            thread one([&] { rt::check(s.post(first), "open"); });
            thread two([&] { rt::check(s.post(second), "open"); });
            one.join();
            two.join();
            while (first.ran.load(mo::relaxed) + second.ran.load(mo::relaxed) != 2) {
                yield_thread();
            }
        }
    });
}

TEST(scheduler_of, RUN_15_post_from_outside_and_inside) {
    EXPECT_EXPLORED({.seconds = 10}, [] {
        item outer;
        item inner;
        {
            scheduler s(of(1));
            outer.child = &inner;
            outer.where = &s;
            rt::check(s.post(outer), "open");
            s.close();
            s.join();
        }
        rt::check(outer.ran.load(mo::relaxed) == 1 && inner.ran.load(mo::relaxed) == 1,
                  "queued work runs, and what it posts");
    });
}

TEST(scheduler_of, RUN_15_two_workers) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        item outer;
        item inner;
        item other;
        {
            scheduler s(of(2));
            outer.child = &inner;
            outer.where = &s;
            rt::check(s.post(outer) && s.post(other), "open");
            s.close();
            s.join();
        }
        rt::check(outer.ran.load(mo::relaxed) == 1 && inner.ran.load(mo::relaxed) == 1,
                  "queued work runs, and what it posts");
        rt::check(other.ran.load(mo::relaxed) == 1, "queued work runs");
    });
}

// Gives two others their turn. A thief may take them between their getting in line and their being counted there.
struct yielder : work {
    yielder()
        : work(+[](work& w) noexcept {
              auto& me = static_cast<yielder&>(w);
              rt::check(me.where->post_last(me.first) && me.where->post_last(me.second),
                        "posting from a worker always works");
              if (me.is_long) {
                  atomic<std::uint32_t> nobody{0};
                  static_cast<void>(wait_on_until(nobody, 0, deadline_after(now(), std::chrono::milliseconds(1))));
              }
          }) {}
    item first;
    item second;
    executor* where = nullptr;
    bool is_long = false;  // continues until no other worker has anything to do
};

TEST(scheduler_of, RUN_114_what_was_yielded_and_taken_is_no_longer_work) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        yielder gives_way;
        {
            scheduler s(of(2));
            gives_way.where = &s;
            rt::check(s.post(gives_way), "open");
            s.close();
            s.join();  // would never end: a count without work keeps workers awake
        }
        rt::check(gives_way.first.ran.load(mo::relaxed) == 1 && gives_way.second.ran.load(mo::relaxed) == 1,
                  "yielded work runs");
    });
}

TEST(scheduler_of, RUN_114_nor_while_the_one_that_yielded_it_is_in_a_long_body) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        yielder goes_on;
        goes_on.is_long = true;
        {
            scheduler s(of(2));
            goes_on.where = &s;
            rt::check(s.post(goes_on), "open");
            s.close();
            s.join();
        }
        rt::check(goes_on.first.ran.load(mo::relaxed) == 1 && goes_on.second.ran.load(mo::relaxed) == 1,
                  "yielded work runs");
    });
}

detail::scheduler_options driven(unsigned workers, test_support::fake_driver& in) {
    detail::scheduler_options o = of(workers);
    o.driver = &in;
    return o;
}

void wait_until_ran(item& i) {
    while (i.ran.load(mo::relaxed) == 0) {
        yield_thread();
    }
}

TEST(scheduler_of, IO_81_post_or_park_in_the_driver) {
    EXPECT_EXPLORED({.seconds = 10}, [] {
        test_support::fake_driver in;
        item i;
        {
            scheduler s(driven(1, in));
            rt::check(s.post(i), "open");
            wait_until_ran(i);
        }
    });
}

TEST(scheduler_of, IO_81_event_or_park) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        test_support::fake_driver in;
        item i;
        {
            scheduler s(driven(1, in));
            in.bind(s, i);
            in.happen();
            wait_until_ran(i);
        }
    });
}

// IO-80: two workers and one driver; an event and a post from outside, and each is run.
TEST(scheduler_of, IO_80_two_workers_and_one_driver) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        test_support::fake_driver in;
        item woken;
        item posted;
        {
            scheduler s(driven(2, in));
            in.bind(s, woken);
            thread kernel([&] { in.happen(); });
            rt::check(s.post(posted), "open");
            wait_until_ran(posted);
            wait_until_ran(woken);
            kernel.join();
        }
    });
}

// IO-83: the executor ends while a worker is on its way into the driver, or in it.
TEST(scheduler_of, IO_83_close_while_it_drives) {
    EXPECT_EXPLORED({.search = rt::search::random, .seconds = 5, .max_steps = 20000}, [] {
        test_support::fake_driver in;
        scheduler s(driven(2, in));
        s.close();
        s.join();
    });
}

}  // namespace
