#include "../harness/harness.hpp"

#include <roost/tree/callback.hpp>
#include <roost/tree/detail/node.hpp>
#include <roost/tree/token.hpp>

#include <malloc.h>

#include <deque>

namespace {

// The smallest view of a node: a level, work, children, and nothing that wants to be told. It is allocated as the peers' are.
class plain_node final : public roost::detail::node {
public:
    static roost::detail::node_ref<> root() { return roost::detail::node_ref<>::adopt(new plain_node()); }
    static roost::detail::node_ref<> child(roost::detail::node& parent) {
        auto* made = new plain_node(parent);
        if (made->attach(roost::detail::child_kind::idle) != roost::detail::attached::yes) std::abort();
        return roost::detail::node_ref<>::adopt(made);
    }

private:
    plain_node() : node(functions, "root", roost::site()) {}
    explicit plain_node(roost::detail::node& parent) : node(functions, parent, "child", roost::site()) {}
    static void destroy(roost::detail::node& self) noexcept { delete static_cast<plain_node*>(&self); }
    static constexpr roost::detail::node_functions functions{.kind = "plain", .destroy = &destroy};
};

bench::sample make_and_drop(bench::budget b, std::size_t siblings) {
    auto const parent = plain_node::root();
    std::vector<roost::detail::node_ref<>> others;
    for (std::size_t i = 0; i < siblings; ++i) others.push_back(plain_node::child(*parent));
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const made = plain_node::child(*parent);
            bench::keep(made.get());
        }
    });
}

}  // namespace

BENCH_OURS("tree/is_cancelled") {
    auto const root = plain_node::root();
    roost::token const token(*root);
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            bench::keep(token.is_cancelled());
            bench::clobber();
        }
    });
}

BENCH_OURS("tree/callback") {
    auto const root = plain_node::root();
    roost::token const token(*root);
    std::uint64_t counter = 0;
    return bench::per_op(b, [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            roost::ext::inline_callback const registered(token, roost::level::cancel, [&counter]() noexcept { ++counter; });
            bench::clobber();
        }
    });
}

BENCH_OURS("tree/cancel_callbacks_1k") {
    auto const s = bench::measure(b, [](std::uint64_t n) {
        double took = 0;
        std::uint64_t counter = 0;
        auto const bump = [&counter]() noexcept { ++counter; };
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const root = plain_node::root();
            std::deque<roost::ext::inline_callback<decltype(bump)>> all;
            for (int k = 0; k < 1000; ++k) all.emplace_back(roost::token(*root), roost::level::cancel, bump);
            auto const start = bench::clock::now();
            root->cancel();
            took += bench::ns_since(start);
        }
        return took;
    });
    return {s.value / 1000, s.ops * 1000};
}

namespace {

bench::sample cancel_children(bench::budget b, std::size_t count) {
    auto const s = bench::measure(b, [count](std::uint64_t n) {
        double took = 0;
        for (std::uint64_t i = 0; i < n; ++i) {
            auto const root = plain_node::root();
            std::vector<roost::detail::node_ref<>> all;
            all.reserve(count);
            for (std::size_t k = 0; k < count; ++k) all.push_back(plain_node::child(*root));
            auto const start = bench::clock::now();
            root->cancel();
            took += bench::ns_since(start);
            if (!all.back()->is_cancelled()) std::abort();
        }
        return took;
    });
    return {s.value / static_cast<double>(count), s.ops * count};
}

}  // namespace

BENCH_OURS("tree/cancel_children_1k") { return cancel_children(b, 1'000); }
BENCH_OURS("tree/cancel_children_100k") { return cancel_children(b, 100'000); }

// What the smallest view costs: the node itself, plus what malloc adds.
BENCH_OURS("scale/bytes_per_child") {
    constexpr std::size_t count = 10'000;
    auto const parent = plain_node::root();
    std::vector<roost::detail::node_ref<>> all;
    all.reserve(count);
    double const before = static_cast<double>(mallinfo2().uordblks);
    for (std::size_t i = 0; i < count; ++i) all.push_back(plain_node::child(*parent));
    return {(static_cast<double>(mallinfo2().uordblks) - before) / count, count};
}

BENCH_OURS("tree/child") { return make_and_drop(b, 0); }
BENCH_OURS("tree/child_of_1000") { return make_and_drop(b, 1000); }
