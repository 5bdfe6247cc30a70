#include <roost/runtime/detail/work_ring.hpp>
#include <roost/testing/explore_gtest.hpp>

#include <new>

namespace {

namespace rt = roost::testing;
using namespace roost;
using namespace roost::ext;

struct item : work {
    item() noexcept : work(+[](work&) noexcept {}) {}
};

// The first ring, or the second one when the first is full: a push that finds no memory says so and leaves the others where
// they are.
TEST(work_ring, RUN_11_a_ring_without_memory_to_grow) {
    EXPECT_EXPLORED({.failing_allocations = 1}, [] {
        detail::work_ring ring;
        item items[257];
        std::size_t accepted = 0;
        for (item& i : items) {
            accepted += ring.push_back(i) ? 1U : 0U;
        }
        rt::check(accepted == ring.size() && accepted + 1 >= std::size(items), "one was refused, or none");
        const bool has_first = ring.pop_front() == &items[0];
        rt::check(has_first || accepted < std::size(items), "only the refused one is missing");
        item late;
        rt::check(ring.push_back(late) && ring.pop_back() == &late, "there is room, or memory again");
    });
}

// One that could not get its first slots has nothing to give back.
TEST(work_ring, RUN_11_a_ring_that_never_had_memory) {
    EXPECT_EXPLORED({.failing_allocations = 1}, [] {
        detail::work_ring ring;
        item one;
        const bool accepted = ring.push_back(one);
        rt::check(ring.is_empty() != accepted, "what was refused is not there");
        rt::check(ring.pop_back() == (accepted ? &one : nullptr), "what was accepted is");
    });
}

}  // namespace
