#include <roost/task/dump.hpp>

#include <roost/sync/event.hpp>
#include <roost/task/sleep.hpp>
#include <roost/task/timeout.hpp>

#include "rig.hpp"

namespace {

using namespace roost;
using namespace std::chrono_literals;
using rig::stage;

task<> wait_for(event& e) { co_await e.wait(); }

TEST(dump, JOB_51_shows_name_site_state_and_children) {
    stage s;
    event go("go");
    const job waits = s.play(wait_for(go), "reader");
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("root scope 'root'"), std::string::npos) << text;
    EXPECT_NE(text.find("rig.hpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("1 child"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  job 'reader'"), std::string::npos) << text;
    EXPECT_NE(dump(waits).find("job 'reader'"), std::string::npos);
    EXPECT_EQ(dump(job()), "");
    go.set();
}

TEST(dump, JOB_52_siblings_that_look_the_same_are_one_line) {
    stage s;
    event go("go");
    for (int i = 0; i < 97; ++i) {
        s.start(wait_for(go), "same");
    }
    s.start(wait_for(go), "other");
    s.run();
    const std::string text = dump(s.root);
    EXPECT_NE(text.find("  97 x job 'same'"), std::string::npos) << text;
    EXPECT_NE(text.find("  job 'other'"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    const std::string all = dump(s.root, dump_options().ungrouped());
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 99);
    go.set();
}

TEST(dump, JOB_53_the_text_is_bounded_and_says_what_is_missing) {
    stage s;
    event go("go");
    std::vector<std::string> names;
    for (int i = 0; i < 500; ++i) {
        s.start(wait_for(go), ("worker " + std::to_string(i)).c_str());
    }
    s.run();
    const std::string few = dump(s.root, dump_options().bytes(2000));
    EXPECT_LE(few.size(), 2000U);
    EXPECT_NE(few.find("cut at 2000 bytes"), std::string::npos) << few;
    const std::string some = dump(s.root, dump_options().nodes(10));
    EXPECT_NE(some.find("only 10 were looked at"), std::string::npos) << some;
    const std::string flat = dump(s.root, dump_options().depth(0));
    EXPECT_NE(flat.find("500 more below depth 0"), std::string::npos) << flat;
    EXPECT_LE(dump(s.root, dump_options().bytes(10)).size(), 10U);
    go.set();
}

}  // namespace
