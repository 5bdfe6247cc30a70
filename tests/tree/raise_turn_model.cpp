// Raises that take turns: one node with several causes, chains that two threads cancel, and nodes that go while their turn waits.

#include <roost/tree/detail/raise_turn.hpp>

#include <roost/testing/explore_gtest.hpp>
#include <roost/tree/detail/passing_callback.hpp>

#include <functional>
#include <optional>

namespace {

using namespace roost;
using namespace roost::seam;
using roost::testing::check;

// A node with its turn, as an owned scope has one.
struct scope_node : detail::node {
    atomic<std::uint32_t> told{0};
    detail::raise_turn turn;
    std::function<void()> on_told;
    std::function<void()> on_gone;

    scope_node() : node(table, "scope", site()) {}
    void cancel_in_turn() noexcept { turn.raise(*this, level::cancel, reason::plain_kind(reason_kind::requested)); }
    void check_told_once() const { check(told.load(mo::relaxed) == 1, "TREE-132: it is told once"); }

    static void destroy(detail::node& n) noexcept {
        auto& self = static_cast<scope_node&>(n);
        const std::function<void()> then = std::move(self.on_gone);
        self.~scope_node();
        deallocate_frame(&self, sizeof(scope_node));
        if (then) {
            then();
        }
    }
    static void level_raised(detail::node& n, level) noexcept {
        auto& self = static_cast<scope_node&>(n);
        self.told.fetch_add(1, mo::relaxed);
        if (self.on_told) {
            self.on_told();
        }
    }
    static const detail::node_functions table;
};
constexpr detail::node_functions scope_node::table{.kind = "scope", .destroy = &destroy, .level_raised = &level_raised};

using ref = detail::node_ref<scope_node>;
ref make_scope() { return ref::adopt(::new (allocate_frame(sizeof(scope_node))) scope_node()); }

// What a body leaves behind that closes `to` in `from`.
struct pass_on {
    scope_node* to;
    void operator()() const noexcept { to->cancel_in_turn(); }
};
using closer = detail::passing_callback<pass_on>;
closer closes(const ref& from, const ref& to) { return {token(*from), level::cancel, pass_on{&*to}}; }

bool is_cancelled(const ref& n) { return n->level_now() >= level::cancel; }

// Two threads cancel a body each, and both bodies close one scope.
MODEL_COMPLETE(raise_turn_model, TREE_132_two_causes) {
    const ref one = make_scope();
    const ref two = make_scope();
    const ref last = make_scope();
    const closer first = closes(one, last);
    const closer second = closes(two, last);
    thread other([&] {
        two->cancel_in_turn();
        check(is_cancelled(last), "TREE-132: a thread that finds the turn taken raises at once");
    });
    one->cancel_in_turn();
    check(is_cancelled(last), "TREE-132: and so does the one that takes it, before it returns");
    other.join();
    last->check_told_once();
}

// The same, and a third scope is closed below the second: the turns behind a shared one stay with the thread that took them.
MODEL_COMPLETE(raise_turn_model, TREE_132_two_causes_of_a_chain) {
    const ref one = make_scope();
    const ref two = make_scope();
    const ref shared = make_scope();
    const ref last = make_scope();
    const closer first = closes(one, shared);
    const closer second = closes(two, shared);
    const closer third = closes(shared, last);
    thread other([&] {
        two->cancel_in_turn();
        check(is_cancelled(shared), "TREE-132: what the caller caused has happened");
    });
    one->cancel_in_turn();
    check(is_cancelled(shared), "TREE-132: what the caller caused has happened");
    other.join();
    check(is_cancelled(last), "TREE-132: all of it is reached when both calls have returned");
    shared->check_told_once();
    last->check_told_once();
}

// Two bodies of one scope close the next one. One thread takes its turn and asks again, another walks along.
MODEL_COMPLETE(raise_turn_model, TREE_132_two_causes_and_a_helper) {
    const ref one = make_scope();
    const ref last = make_scope();
    const closer first = closes(one, last);
    const closer second = closes(one, last);
    thread other([&] { one->cancel(); });
    one->cancel_in_turn();
    other.join();
    check(is_cancelled(last), "TREE-132: all of it is reached when both calls have returned");
    one->check_told_once();
    last->check_told_once();
}

// A chain is cancelled from its top while another thread cancels its middle.
MODEL_COMPLETE(raise_turn_model, TREE_101_top_and_middle) {
    const ref top = make_scope();
    const ref middle = make_scope();
    const ref last = make_scope();
    const closer first = closes(top, middle);
    const closer second = closes(middle, last);
    thread other([&] {
        middle->cancel_in_turn();
        check(is_cancelled(middle), "TREE-132: what the caller caused has happened");
    });
    top->cancel_in_turn();
    check(is_cancelled(middle), "TREE-132: what the caller caused has happened");
    other.join();
    check(is_cancelled(last), "TREE-132: all of it is reached when both calls have returned");
    middle->check_told_once();
    last->check_told_once();
}

// The body that closes a scope leaves, and lets go of it, while its turn waits: the turn keeps the scope.
MODEL_COMPLETE(raise_turn_model, TREE_133_last_holder_leaves) {
    const ref top = make_scope();
    ref next = make_scope();
    plain<bool> gone{false};
    next->on_gone = [&gone] { gone.set(true); };
    std::optional<closer> closing;
    closing.emplace(token(*top), level::cancel, pass_on{&*next});
    thread body([&] {
        closing.reset();
        next = ref();
    });
    top->cancel_in_turn();
    body.join();
    check(gone.get(), "TREE-133: it goes when it has been raised and all have left");
}

// The same with a scope behind it, so that its turn is not the last one, and with one that is raised when it goes.
MODEL_COMPLETE(raise_turn_model, TREE_133_raises_where_it_goes) {
    const ref top = make_scope();
    const ref behind = make_scope();
    ref next = make_scope();
    next->on_gone = [&behind] { behind->cancel_in_turn(); };
    std::optional<closer> closing;
    closing.emplace(token(*top), level::cancel, pass_on{&*next});
    thread body([&] {
        closing.reset();
        next = ref();
    });
    top->cancel_in_turn();
    body.join();
    check(is_cancelled(behind), "TREE-133: a raise where a node goes happens");
    behind->check_told_once();
}

}  // namespace
