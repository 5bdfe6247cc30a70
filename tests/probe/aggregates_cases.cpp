// Aggregates, arrays and braces inside expressions that contain co_await.
#define PROBE_GROUP "aggregates"
#include "probe.hpp"

#include <array>
#include <optional>
#include <tuple>
#include <vector>

using namespace probe;

namespace {

struct options {
    tracked name;
    int size = 0;
};
struct plain_options {
    int size = 0;
    const char* name = "";
};
class built_options {
public:
    explicit built_options(tracked name) : name_(std::move(name)) {}
    built_options& size(int value) & { return size_ = value, *this; }
    built_options&& size(int value) && { return size_ = value, std::move(*this); }
    int sum() const { return name_ + size_; }

private:
    tracked name_;
    int size_ = 0;
};
struct nested {
    options inner;
    tracked other;
};
struct base_part {
    tracked first;
};
struct derived_aggregate : base_part {
    tracked second;
};
struct defaulted_copy {
    tracked value;
    defaulted_copy(int v) : value(v) {}
    defaulted_copy(const defaulted_copy&) = default;
    defaulted_copy(defaulted_copy&&) = default;
};

task<int> by_value(options o) {
    co_await hop();
    co_return o.name + o.size;
}
task<int> by_rvalue(options&& o) {
    co_await hop();
    co_return o.name + o.size;
}
task<int> by_const_ref(const options& o) {
    co_await hop();
    co_return o.name + o.size;
}
task<int> plain(plain_options o) {
    co_await hop();
    co_return o.size;
}
task<int> built(built_options o) {
    co_await hop();
    co_return o.sum();
}
task<int> deep(nested n) {
    co_await hop();
    co_return n.inner.name + n.other;
}
task<int> derived(derived_aggregate d) {
    co_await hop();
    co_return d.first + d.second;
}
task<int> copyable(defaulted_copy d) {
    co_await hop();
    co_return d.value;
}
task<int> sum_vector(std::vector<tracked> list) {
    co_await hop();
    int total = 0;
    for (const auto& t : list) total += t;
    co_return total;
}
task<int> maybe(std::optional<tracked> o) {
    co_await hop();
    co_return o ? o->value() : 0;
}

struct aggregate_awaiter {
    tracked payload;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
    int await_resume() const noexcept { return payload; }
};
class constructed_awaiter {
public:
    explicit constructed_awaiter(tracked payload) : payload_(std::move(payload)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
    int await_resume() const noexcept { return payload_; }

private:
    tracked payload_;
};
struct getter {
    tracked payload;
    task<int> get() const { return number(payload); }
};

} // namespace

PROBE_CORO(aggregate_temporary_by_value) {
    int v = co_await by_value(options{tracked(3), 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(aggregate_temporary_by_rvalue) {
    int v = co_await by_rvalue(options{tracked(3), 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(aggregate_temporary_by_const_reference) {
    int v = co_await by_const_ref(options{tracked(3), 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(designated_initializers) {
    int v = co_await by_value(options{.name = tracked(3), .size = 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(braces_without_type) {
    int v = co_await by_value({.name = tracked(3), .size = 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(aggregate_from_named_object) {
    tracked t(3);
    int v = co_await by_value(options{t, 4});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(trivially_destructible_aggregate) {
    int v = co_await plain(plain_options{.size = 7, .name = "x"});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(named_aggregate_moved) {
    options o{tracked(3), 4};
    int v = co_await by_value(std::move(o));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(constructed_options) {
    int v = co_await built(built_options(tracked(3)).size(4));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(nested_aggregate) {
    int v = co_await deep(nested{{tracked(3), 0}, tracked(4)});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(aggregate_with_base) {
    int v = co_await derived(derived_aggregate{{tracked(3)}, tracked(4)});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(defaulted_copy_constructor) {
    defaulted_copy d(7);
    int v = co_await copyable(d);
    int w = co_await copyable(defaulted_copy(7));
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(await_inside_aggregate_braces) {
    options o{tracked(3), co_await number(4)};
    PROBE_EXPECT(o.name + o.size == 7);
}
PROBE_CORO(awaited_member_of_aggregate) {
    options o{co_await make(3), 4};
    PROBE_EXPECT(o.name + o.size == 7);
}
PROBE_CORO(await_inside_aggregate_temporary) {
    int v = co_await by_value(options{co_await make(3), co_await number(4)});
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(aggregate_returned) {
    auto f = []() -> task<options> {
        co_await hop();
        co_return options{tracked(3), co_await number(4)};
    };
    options o = co_await f();
    PROBE_EXPECT(o.name + o.size == 7);
}
PROBE_CORO(aggregate_awaiter_temporary) {
    int v = co_await aggregate_awaiter{tracked(7)};
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(constructed_awaiter_temporary) {
    int v = co_await constructed_awaiter(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(member_of_aggregate_temporary) {
    int v = co_await getter{tracked(7)}.get();
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(vector_argument_named) {
    std::vector<tracked> list{tracked(3), tracked(4)};
    int v = co_await sum_vector(std::move(list));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(array_with_await_inside) {
    tracked list[2] = {tracked(3), co_await make(4)};
    PROBE_EXPECT(list[0] + list[1] == 7);
}
PROBE_CORO(std_array_with_await_inside) {
    std::array<tracked, 2> list = {tracked(3), co_await make(4)};
    PROBE_EXPECT(list[0] + list[1] == 7);
}
PROBE_CORO(pair_and_tuple_with_await_inside) {
    std::pair<tracked, int> p(tracked(3), co_await number(4));
    std::tuple<tracked, tracked> t(tracked(3), co_await make(4));
    PROBE_EXPECT(p.first + p.second == 7 && std::get<0>(t) + std::get<1>(t) == 7);
}
PROBE_CORO(optional_argument) {
    int v = co_await maybe(tracked(7));
    PROBE_EXPECT(v == 7);
}
