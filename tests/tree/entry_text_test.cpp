#include <roost/tree/detail/entry_text.hpp>

#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using namespace roost::detail;
using namespace tree_support;

entry_text entry_of(detail::node& n) {
    entry_text out;
    visit(n, 1, [&](const node_description& d) { out = describe_entry(d); });
    return out;
}

TEST(entry_text, OBS_3_head_has_kind_name_site_state_and_reason) {
    ref root = make_root("service");
    const std::string head = entry_of(*root).head;
    EXPECT_EQ(head, "probe 'service' (" + root->made_at().to_string() + "), running");
    root->cancel(reason(reason_kind::requested, "disk full"));
    EXPECT_NE(entry_of(*root).head.find(", cancel (requested: disk full"), std::string::npos) << entry_of(*root).head;
}

TEST(entry_text, OBS_3_tail_has_what_the_node_waits_on) {
    ref root = make_root("service");
    node_description d;
    d.target = root.get();
    d.kind = "job";
    d.name = "reader";
    d.state = "active";
    d.set_waits_on("mutex", "accounts");
    d.uninterruptible = true;
    d.shield = true;
    d.started = now() - 100h;
    const entry_text e = describe_entry(d);
    EXPECT_EQ(e.head, "job 'reader', active, shielded");
    EXPECT_EQ(e.tail, ", waits on mutex 'accounts', uninterruptible");
    std::string line;
    append_entry(line, e);
    EXPECT_EQ(line, "job 'reader', active, shielded, age 100 h, waits on mutex 'accounts', uninterruptible");
}

TEST(entry_text, OBS_3_long_texts_are_cut) {
    const std::string name(500, 'n');
    EXPECT_EQ(shown(name).size(), 120U);
    EXPECT_EQ(shown("short"), "short");
}

TEST(entry_text, OBS_3_ages) {
    const auto ages = [](duration youngest, duration oldest) {
        std::string out;
        append_age(out, youngest, oldest);
        return out;
    };
    EXPECT_EQ(ages(3ms, 812ms), ", age 3 ms to 812 ms");
    EXPECT_EQ(ages(3ms, 3ms + 10us), ", age 3 ms");
    EXPECT_EQ(ages(duration::max(), duration(-1)), "");
}

TEST(entry_text, OBS_3_deadlines) {
    const auto deadline = [](duration left) {
        std::string out;
        append_deadline(out, left);
        return out;
    };
    EXPECT_EQ(deadline(188ms), ", deadline in 188 ms");
    EXPECT_EQ(deadline(-2s), ", deadline passed 2 s ago");
    EXPECT_EQ(deadline(duration::max()), "");
}

}  // namespace
