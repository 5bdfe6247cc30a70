#include <roost/exec/work.hpp>

#include <gtest/gtest.h>

#include <array>
#include <vector>

static_assert(!std::is_copy_constructible_v<roost::ext::work>);
static_assert(sizeof(roost::ext::work) == 2 * sizeof(void*));

namespace {

struct numbered : roost::ext::work {
    explicit numbered(int n) : work(&numbered::run_it), number(n) {}
    static void run_it(roost::ext::work& w) noexcept { ++static_cast<numbered&>(w).runs; }
    int number;
    int runs = 0;
};

std::vector<int> take_all(roost::ext::work_list& list) {
    std::vector<int> out;
    while (roost::ext::work* w = list.pop()) {
        out.push_back(static_cast<numbered*>(w)->number);
    }
    return out;
}

TEST(work, BASE_21_runs_what_it_was_told) {
    numbered w(1);
    w.run();
    EXPECT_EQ(w.runs, 1);
    w.set_run([](roost::ext::work& self) noexcept { static_cast<numbered&>(self).runs = 100; });
    w.run();
    EXPECT_EQ(w.runs, 100);
}

TEST(work_list, BASE_24_first_in_first_out) {
    numbered a(1);
    numbered b(2);
    numbered c(3);
    roost::ext::work_list list;
    EXPECT_EQ(list.pop(), nullptr);
    list.push(a);
    list.push(b);
    EXPECT_EQ(static_cast<numbered*>(list.pop())->number, 1);
    list.push(c);
    EXPECT_EQ(take_all(list), (std::vector<int>{2, 3}));
    EXPECT_TRUE(list.is_empty());
}

TEST(work_list, BASE_24_appends_in_order) {
    std::array<numbered, 4> all{numbered(1), numbered(2), numbered(3), numbered(4)};
    roost::ext::work_list first;
    roost::ext::work_list second;
    first.append(second);
    first.push(all[0]);
    second.push(all[1]);
    second.push(all[2]);
    first.append(second);
    EXPECT_TRUE(second.is_empty());
    first.push(all[3]);
    roost::ext::work_list empty;
    empty.append(first);
    EXPECT_EQ(take_all(empty), (std::vector<int>{1, 2, 3, 4}));
}

}  // namespace
