#include <roost/observe/snapshot.hpp>

#include <roost/sync/event.hpp>
#include <roost/sync/mutex.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/timeout.hpp>

#include "../task/rig.hpp"

#include <algorithm>
#include <set>

namespace {

using namespace roost;
using namespace roost::observe;
using namespace std::chrono_literals;
using rig::stage;

task<> wait_for(event& e) { co_await e.wait(); }

const snapshot_row* named(const tree_snapshot& in, std::string_view name) {
    const auto found =
        std::find_if(in.rows().begin(), in.rows().end(), [&](const snapshot_row& r) { return r.name == name; });
    return found == in.rows().end() ? nullptr : &*found;
}

TEST(snapshot, OBS_106_has_a_row_for_each_node) {
    stage s;
    event go("go");
    s.play(wait_for(go), "reader");
    const job gone = s.play(wait_for(go), "cancelled");
    const tree_snapshot all = snapshot(s.root.tree_node());
    ASSERT_EQ(all.rows().size(), 3U);
    EXPECT_TRUE(all.is_complete());
    const snapshot_row* top = named(all, "root");
    const snapshot_row* reader = named(all, "reader");
    ASSERT_NE(reader, nullptr);
    EXPECT_EQ(top->kind, "owned scope");
    EXPECT_EQ(top->depth, 0U);
    EXPECT_EQ(top->parent, 0U);
    EXPECT_EQ(reader->kind, "job");
    EXPECT_EQ(reader->depth, 1U);
    EXPECT_EQ(reader->parent, top->id);
    EXPECT_EQ(reader->units, 1U);
    EXPECT_EQ(reader->state, "active");
    EXPECT_EQ(reader->waits_on, "event 'go'");
    EXPECT_NE(reader->stack.find("snapshot_test.cpp:"), std::string_view::npos) << reader->stack;
    EXPECT_TRUE(reader->age.has_value());
    EXPECT_EQ(all.find(reader->id), reader);
    EXPECT_EQ(all.find(0), nullptr);
    go.set();
    s.run();
}

TEST(snapshot, OBS_106_a_row_shows_levels_reasons_and_deadlines) {
    stage s;
    event go("go");
    s.play([](event& e) -> task<> { co_await fail_after(90s, wait_for(e)); }(go), "limited");
    s.root.tree_node().stop(reason(reason_kind::requested, "maintenance"));
    const tree_snapshot all = snapshot(s.root.tree_node());
    const snapshot_row* limit = named(all, "deadline");
    ASSERT_NE(limit, nullptr);
    EXPECT_EQ(limit->left, duration(90s));
    EXPECT_EQ(limit->now, level::stop);
    EXPECT_NE(limit->reason.find("maintenance"), std::string_view::npos) << limit->reason;
    EXPECT_NE(limit->to_string().find("deadline in 90 s"), std::string::npos) << limit->to_string();
    go.set();
    s.run();
}

TEST(snapshot, OBS_104_two_looks_can_be_compared) {
    stage s;
    event go("go");
    const job mine = s.play(wait_for(go), "reader");
    const tree_snapshot before = snapshot(s.root.tree_node());
    s.play(wait_for(go), "later");
    const tree_snapshot after = snapshot(s.root.tree_node());
    EXPECT_EQ(named(before, "reader")->id, named(after, "reader")->id);
    EXPECT_EQ(before.find(named(after, "later")->id), nullptr);
    EXPECT_EQ(id_of(mine.tree_node()), named(before, "reader")->id);
    EXPECT_EQ(find_node(named(before, "reader")->id).name(), "reader");
    go.set();
    s.run();
    EXPECT_EQ(id_of(node()), 0U);
    EXPECT_FALSE(find_node(0));
}

TEST(snapshot, OBS_107_a_filter_lists_only_what_matches) {
    stage s;
    event go("go");
    event other("other");
    s.play(wait_for(go), "reader");
    s.play(wait_for(other), "writer");
    const auto names = [&](snapshot_options how) {
        std::set<std::string> all;
        const tree_snapshot found = snapshot(s.root.tree_node(), how);
        for (const snapshot_row& r : found.rows()) {
            all.insert(std::string(r.name));
        }
        return all;
    };
    using set = std::set<std::string>;
    EXPECT_EQ(names(snapshot_options().name("read")), (set{"reader"}));
    EXPECT_EQ(names(snapshot_options().kind("job")), (set{"reader", "writer"}));
    EXPECT_EQ(names(snapshot_options().waits_on("'other'")), (set{"writer"}));
    EXPECT_EQ(names(snapshot_options().kind("job").name("x")), (set{}));
    EXPECT_EQ(names(snapshot_options().older_than(1h)), (set{}));
    EXPECT_EQ(names(snapshot_options().older_than(0s)), (set{"reader", "writer"}));
    go.set();
    other.set();
    s.run();
}

TEST(snapshot, OBS_105_pages_list_every_node_once_while_nothing_ends) {
    stage s;
    event go("go");
    for (int i = 0; i < 100; ++i) {
        s.play(wait_for(go), "reader");
    }
    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    snapshot_page at;
    while (!at.is_end()) {
        const tree_snapshot page = snapshot(s.root.tree_node(), snapshot_options().nodes(7), at);
        EXPECT_LE(page.rows().size(), 7U);
        for (const snapshot_row& r : page.rows()) {
            seen.insert(r.id);
            ++count;
            if (r.depth == 1) {
                EXPECT_EQ(r.parent, id_of(s.root.tree_node()));
            }
        }
    }
    EXPECT_EQ(count, 101U);
    EXPECT_EQ(seen.size(), 101U);
    const tree_snapshot behind = snapshot(s.root.tree_node(), {}, at);
    EXPECT_TRUE(behind.rows().empty());
    go.set();
    s.run();
}

TEST(snapshot, OBS_108_limits_hold) {
    stage s;
    event go("go");
    for (int i = 0; i < 100; ++i) {
        s.play(wait_for(go), std::string(100, 'n').c_str());
    }
    const auto rows = [&](snapshot_options how) {
        const tree_snapshot found = snapshot(s.root.tree_node(), how);
        return found.rows().size();
    };
    EXPECT_EQ(rows(snapshot_options().nodes(10)), 10U);
    EXPECT_EQ(rows(snapshot_options().kind("job").visits(10)), 9U);
    const tree_snapshot small = snapshot(s.root.tree_node(), snapshot_options().bytes(2000));
    EXPECT_FALSE(small.is_complete());
    EXPECT_LT(small.rows().size(), 12U);
    EXPECT_EQ(rows(snapshot_options().bytes(1)), 1U);
    go.set();
    s.run();
}

TEST(snapshot, OBS_109_json_is_valid_whatever_the_names_are) {
    stage s;
    event go("go");
    s.play(wait_for(go), (std::string("a\"b\\\n\xff") + std::string(10'000, 'x')).c_str());
    const std::string json = snapshot(s.root.tree_node(), snapshot_options().kind("job")).to_json();
    EXPECT_TRUE(json.starts_with(R"({"schema":1,"complete":true,"visited":2,"nodes":[)")) << json.substr(0, 100);
    EXPECT_NE(json.find(R"("name":"a\"b\\\n)"
                        "\xef\xbf\xbdxxx"),
              std::string::npos)
        << json.substr(0, 300);
    EXPECT_NE(json.find(R"("waits_on":"event 'go'")"), std::string::npos);
    EXPECT_NE(json.find("snapshot_test.cpp:"), std::string::npos);
    go.set();
    s.run();
}

TEST(snapshot, OBS_106_an_empty_handle_has_no_rows) {
    const tree_snapshot none = snapshot(node());
    EXPECT_TRUE(none.rows().empty());
    EXPECT_EQ(snapshot(node()).to_json(), "{\"schema\":1,\"complete\":true,\"visited\":0,\"nodes\":[\n]}\n");
}

}  // namespace
