#include <roost/tree/detail/member.hpp>

#include <gtest/gtest.h>

#include <list>
#include <random>

namespace {

using roost::detail::member;
using roost::detail::member_kind;
using roost::detail::member_list;

struct item : member {
    item() noexcept : member(member_kind::marker) {}
};

std::vector<const member*> contents(const member_list& list) {
    std::vector<const member*> out;
    for (const member* m = list.first(); m != nullptr; m = member_list::next_of(*m)) {
        out.push_back(m);
    }
    return out;
}

TEST(member_list, TREE_35_attach_and_unlink_anywhere) {
    std::mt19937 random(7);
    member_list list;
    std::list<const member*> expected;
    std::vector<std::unique_ptr<item>> items;
    for (int i = 0; i < 8; ++i) {
        items.push_back(std::make_unique<item>());
    }
    std::vector<item*> out;
    std::vector<item*> in;
    for (const auto& i : items) {
        out.push_back(i.get());
    }
    for (int round = 0; round < 20'000; ++round) {
        const auto pick = [&](std::vector<item*>& from) {
            const std::size_t at = random() % from.size();
            item* i = from[at];
            from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
            return i;
        };
        switch (random() % 4) {
            case 0:
                if (!out.empty()) {
                    item* i = pick(out);
                    list.push_back(*i);
                    expected.push_back(i);
                    in.push_back(i);
                }
                break;
            case 1:
                if (!out.empty()) {
                    item* i = pick(out);
                    list.push_front(*i);
                    expected.push_front(i);
                    in.push_back(i);
                }
                break;
            case 2:
                if (!in.empty()) {
                    item* i = pick(in);
                    list.erase(*i);
                    expected.remove(i);
                    out.push_back(i);
                }
                break;
            default:
                if (!in.empty() && !out.empty()) {
                    item* old = pick(in);
                    item* fresh = pick(out);
                    list.replace(*old, *fresh);
                    std::replace(expected.begin(), expected.end(), static_cast<const member*>(old),
                                 static_cast<const member*>(fresh));
                    in.push_back(fresh);
                    out.push_back(old);
                }
        }
        ASSERT_EQ(contents(list), std::vector<const member*>(expected.begin(), expected.end()));
        ASSERT_EQ(list.is_empty(), expected.empty());
        ASSERT_EQ(list.is_empty_now(), expected.empty());
    }
}

}  // namespace
