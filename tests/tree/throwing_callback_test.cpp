// User code that throws where no handler can catch it: the exception is reported by name, and the caller goes on.
#include <roost/base/failure_sink.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/tree/callback.hpp>
#include <roost/tree/external_resource.hpp>
#include <roost/tree/visit.hpp>

#include "tree_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using roost::callback;
using roost::level;
using roost::token;
using roost::ext::external_resource;
using roost::ext::inline_callback;
using roost::testing::manual_executor;
using namespace tree_support;

class throwing_callback : public ::testing::Test {
protected:
    void SetUp() override {
        heard().clear();
        before_ = roost::set_failure_sink(
            +[](std::string_view what, std::string_view name, roost::site made_at, std::exception_ptr error) noexcept {
                heard().push_back(std::string(what) + " '" + std::string(name) + "' " +
                                  (made_at.is_known() ? "(known): " : "(unknown): ") + roost::describe(error));
            });
    }
    void TearDown() override { roost::set_failure_sink(before_); }
    static std::vector<std::string>& heard() {
        static std::vector<std::string> all;
        return all;
    }
    static void fail() { throw std::runtime_error("broken"); }

private:
    roost::failure_sink before_ = nullptr;
};

TEST_F(throwing_callback, TREE_90_a_posted_one_is_reported_and_its_executor_goes_on) {
    manual_executor exec;
    ref root = make_root("server");
    int others = 0;
    callback a(token(*root), level::cancel, exec, fail);
    callback b(token(*root), level::cancel, exec, [&] { ++others; });
    root->cancel();
    exec.run_all();
    EXPECT_EQ(others, 1);
    EXPECT_EQ(heard(), std::vector<std::string>{"a callback of 'server' (known): std::runtime_error: broken"});
    a.reset();
    EXPECT_FALSE(root->has_members());
}

TEST_F(throwing_callback, TREE_90_a_posted_one_may_destroy_itself_and_throw) {
    manual_executor exec;
    ref root = make_root("server");
    callback cb;
    cb = callback(token(*root), level::cancel, exec, [&] {
        cb.reset();
        root = {};
        fail();
    });
    root->cancel();
    exec.run_all();
    EXPECT_EQ(heard(), std::vector<std::string>{"a callback of 'server' (known): std::runtime_error: broken"});
}

TEST_F(throwing_callback, TREE_90_the_walk_of_a_cancel_goes_on_past_an_inline_one) {
    ref root = make_root("server");
    ref one = make_child(*root, "one");
    ref two = make_child(*root, "two");
    int others = 0;
    inline_callback a(token(*one), level::cancel, [] { fail(); });
    inline_callback b(token(*one), level::cancel, [&] { ++others; });
    inline_callback c(token(*two), level::cancel, [&] { ++others; });
    root->cancel();
    EXPECT_EQ(others, 2);
    EXPECT_TRUE(one->is_cancelled() && two->is_cancelled());
    EXPECT_EQ(heard(), std::vector<std::string>{"an inline callback of 'one' (known): std::runtime_error: broken"});
    inline_callback late(token(*two), level::cancel, [] { throw 7; });
    EXPECT_EQ(heard().back(), "an inline callback of 'two' (known): int");
}

TEST_F(throwing_callback, TREE_90_an_inline_one_may_destroy_itself_and_throw) {
    ref root = make_root("server");
    using fn = inline_callback<std::function<void()>>;
    std::unique_ptr<fn> self;
    self = std::make_unique<fn>(token(*root), level::cancel, [&self] {
        self.reset();
        fail();
    });
    root->cancel();
    EXPECT_EQ(self, nullptr);
    EXPECT_EQ(heard(), std::vector<std::string>{"an inline callback of '' (unknown): std::runtime_error: broken"});
}

TEST_F(throwing_callback, TREE_90_on_cancel_of_an_external_resource) {
    ref root = make_root("server");
    int others = 0;
    external_resource a = external_resource::open(*root, "read", fail);
    external_resource b = external_resource::open(*root, "write", [&] { ++others; });
    root->cancel();
    EXPECT_EQ(others, 1);
    EXPECT_EQ(heard(),
              std::vector<std::string>{"on_cancel of external resource 'read' (known): std::runtime_error: broken"});
    EXPECT_FALSE(a.try_complete()) << "the cancel has acted";
    a.reset();
    b.reset();
    EXPECT_FALSE(root->has_work());
    external_resource late = external_resource::open(*root, "late", fail);
    EXPECT_EQ(heard().size(), 2U) << "opened under a cancelled parent";
}

TEST_F(throwing_callback, TREE_90_what_a_visitor_throws_reaches_the_caller) {
    ref root = make_root("server");
    std::vector<ref> children;
    for (int i = 0; i < 5; ++i) {
        children.push_back(make_child(*root));
    }
    int calls = 0;
    const auto third_fails = [&](const roost::observe::node_description&) {
        if (++calls == 3) {
            fail();
        }
    };
    EXPECT_THROW(roost::observe::visit(*root, 100, third_fails), std::runtime_error);
    EXPECT_EQ(calls, 3) << "nothing is called after it has thrown";
    EXPECT_TRUE(heard().empty()) << "the caller knows";
    EXPECT_EQ(roost::observe::visit(*root, 100, [](const roost::observe::node_description&) noexcept {}).visited, 6U)
        << "the tree can be visited again";
    children.clear();
    EXPECT_FALSE(root->has_members()) << "the walk holds nobody";
}

}  // namespace
