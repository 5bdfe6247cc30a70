#include <roost/base/atomic.hpp>
#include <roost/testing/explore_gtest.hpp>

// The explorer on the smallest programs: one right and one wrong of each kind.

namespace rt = roost::testing;
using namespace roost;
using namespace roost::seam;

MODEL(explore_basics, EXPL_1_every_interleaving_is_tried) {
    atomic<int> counter{0};
    thread a([&] { counter.fetch_add(1, mo::relaxed); });
    thread b([&] { counter.fetch_add(1, mo::relaxed); });
    a.join();
    b.join();
    rt::check(counter.load(mo::relaxed) == 2, "both increments count");
}

TEST(explore_basics, EXPL_2_a_lost_update_is_found) {
    EXPECT_FOUND(rt::verdict::assertion, {}, [] {
        atomic<int> counter{0};
        const auto increment = [&] { counter.store(counter.load(mo::relaxed) + 1, mo::relaxed); };
        thread a(increment);
        thread b(increment);
        a.join();
        b.join();
        rt::check(counter.load(mo::relaxed) == 2, "both increments count");
    });
}

MODEL(explore_basics, EXPL_3_release_and_acquire_publish_plain_memory) {
    atomic<int> ready{0};
    plain<int> data{0};
    thread writer([&] {
        data.set(42);
        ready.store(1, mo::release);
    });
    if (ready.load(mo::acquire) == 1) {
        rt::check(data.get() == 42, "what was written before the release is seen");
    }
    writer.join();
}

TEST(explore_basics, EXPL_4_a_relaxed_publication_is_a_data_race) {
    EXPECT_FOUND(rt::verdict::data_race, {}, [] {
        atomic<int> ready{0};
        plain<int> data{0};
        thread writer([&] {
            data.set(42);
            ready.store(1, mo::relaxed);
        });
        if (ready.load(mo::acquire) == 1) {
            rt::check(data.get() == 42, "what was written before the release is seen");
        }
        writer.join();
    });
}
