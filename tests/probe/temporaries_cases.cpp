// Temporaries, references, nested awaits, and every way to call something inside a co_await expression.
#define PROBE_GROUP "temporaries"
#include "probe.hpp"

#include <memory>
#include <string>

using namespace probe;

namespace {

task<int> take(tracked t) {
    co_await hop();
    co_return t;
}
task<int> view(const tracked& t) {
    co_await hop();
    co_return t;
}
task<int> take_two(tracked a, tracked b) {
    co_await hop();
    co_return a * 10 + b;
}
task<const tracked&> same(const tracked& t) {
    co_await hop();
    co_return t;
}
task<std::size_t> length(std::string s) {
    co_await hop();
    co_return s.size();
}
task<std::size_t> length_of(const std::string& s) {
    co_await hop();
    co_return s.size();
}
task<int> pointee(std::unique_ptr<tracked> p) {
    co_await hop();
    co_return *p;
}
task<int> defaulted(int n, tracked t = tracked(3), const tracked& u = tracked(4)) {
    co_await hop();
    co_return n + t + u;
}
template <class... Args>
task<int> many(Args... args) {
    co_await hop();
    co_return (args.value() + ... + 0);
}

class service {
public:
    explicit service(int base) : base_(base) {}
    service(const service&) = default;
    virtual ~service() = default;
    task<int> member(tracked t) const {
        co_await hop();
        co_return base_ + t;
    }
    virtual task<int> run(tracked t) {
        co_await hop();
        co_return base_ + t;
    }
    static task<int> shared(tracked t) {
        co_await hop();
        co_return t;
    }
    task<int> operator()(tracked t) const { return member(std::move(t)); }
    task<int> operator[](tracked t) const { return member(std::move(t)); }
    friend task<int> operator+(const service& s, tracked t) { return s.member(std::move(t)); }

protected:
    tracked base_;
};
class special_service : public service {
public:
    using service::service;
    task<int> run(tracked t) override {
        co_await hop();
        co_return base_ + t + 100;
    }
};
// The awaiter refers to the awaitable: both must live until the full expression ends.
class two_stage {
public:
    explicit two_stage(int value) : value_(value) {}
    class awaiter {
    public:
        explicit awaiter(const two_stage& owner) : owner_(owner), own_(1) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
        int await_resume() const noexcept { return owner_.value_ + own_; }

    private:
        const two_stage& owner_;
        tracked own_;
    };
    awaiter operator co_await() const& { return awaiter(*this); }

private:
    tracked value_;
};
// Returns while its argument, a temporary of the caller, must still be alive.
class peek {
public:
    explicit peek(const tracked& t) : t_(t) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
    const tracked& await_resume() const noexcept { return t_; }

private:
    const tracked& t_;
};

} // namespace

PROBE_CORO(temporary_moved_into_parameter) {
    int v = co_await take(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(temporary_bound_to_reference_parameter) {
    int v = co_await view(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(reference_returned_to_temporary) {
    int v = (co_await same(tracked(7))).value();
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(temporary_alive_until_end_of_expression) {
    const long gone_before = seen.destroyed;
    bool alive = (co_await peek(tracked(7))).value() == 7 && seen.destroyed == gone_before;
    PROBE_EXPECT(alive);
    PROBE_EXPECT(seen.destroyed == gone_before + 1);
}
PROBE_CORO(lifetime_extended_by_local_reference) {
    const tracked& t = co_await make(7);
    co_await hop();
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(lifetime_extended_by_rvalue_reference) {
    tracked&& t = co_await make(7);
    co_await hop();
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(awaited_object_discarded) {
    co_await make(7);
    (void)co_await make(7);
    PROBE_EXPECT(seen.built == seen.destroyed);
}
PROBE_CORO(member_of_awaited_object) {
    int v = (co_await make(7)).self().value();
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(await_as_argument_of_awaited_call) {
    int v = co_await take(co_await make(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(two_awaits_as_arguments) {
    int v = co_await take_two(co_await make(3), co_await make(4));
    PROBE_EXPECT(v == 34);
}
PROBE_CORO(await_and_temporary_as_arguments) {
    int v = co_await take_two(tracked(3), co_await make(4));
    int w = co_await take_two(co_await make(3), tracked(4));
    PROBE_EXPECT(v == 34 && w == 34);
}
PROBE_CORO(three_levels_of_awaits) {
    int v = co_await take(tracked(co_await take(tracked(co_await take(co_await make(7))))));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(sum_of_awaits_with_temporaries) {
    int v = co_await take(tracked(3)) + co_await view(tracked(4)) + tracked(1).value();
    PROBE_EXPECT(v == 8);
}
PROBE_CORO(compound_assignment) {
    int v = 1;
    v += co_await take(tracked(6));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(assignment_to_object) {
    tracked t(0);
    t = co_await make(7);
    PROBE_EXPECT(t == 7);
}
PROBE_CORO(subscript_with_await) {
    int list[3] = {5, 6, 7};
    int v = list[co_await take(tracked(2))];
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(default_arguments) {
    int v = co_await defaulted(0);
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(default_arguments_beside_await) {
    int v = co_await defaulted(co_await number(1));
    PROBE_EXPECT(v == 8);
}
PROBE_CORO(parameter_pack) {
    int v = co_await many(tracked(1), tracked(2), co_await make(4));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(string_arguments) {
    std::size_t a = co_await length("a string that is longer than the small buffer");
    std::size_t b = co_await length_of("a string that is longer than the small buffer");
    std::size_t c = co_await length(std::string(100, 'x') + "y");
    PROBE_EXPECT(a == 45 && b == 45 && c == 101);
}
PROBE_CORO(unique_ptr_arguments) {
    int v = co_await pointee(std::make_unique<tracked>(7));
    int w = co_await pointee(std::make_unique<tracked>(co_await number(7)));
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(member_function_of_local) {
    service s(3);
    int v = co_await s.member(tracked(4));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(member_function_of_temporary) {
    int v = co_await service(3).member(tracked(4));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(static_member_function) {
    int v = co_await service::shared(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(virtual_call) {
    special_service s(3);
    service& base = s;
    int v = co_await base.run(tracked(4));
    std::unique_ptr<service> owned = std::make_unique<special_service>(3);
    int w = co_await owned->run(tracked(4));
    PROBE_EXPECT(v == 107 && w == 107);
}
PROBE_CORO(pointer_to_member_function) {
    service s(3);
    auto method = &service::member;
    int v = co_await (s.*method)(tracked(4));
    auto virtual_method = &service::run;
    int w = co_await ((&s)->*virtual_method)(tracked(4));
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(function_pointer) {
    task<int> (*function)(tracked) = &take;
    int v = co_await function(tracked(7));
    PROBE_EXPECT(v == 7);
}
PROBE_CORO(overloaded_operators) {
    service s(3);
    int a = co_await s(tracked(4));
    int b = co_await s[tracked(4)];
    int c = co_await (s + tracked(4));
    PROBE_EXPECT(a == 7 && b == 7 && c == 7);
}
PROBE_CORO(awaitable_with_separate_awaiter) {
    int v = co_await two_stage(6);
    two_stage named(6);
    int w = co_await named;
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(new_expression_with_await) {
    std::unique_ptr<tracked> p(new tracked(co_await number(7)));
    PROBE_EXPECT(*p == 7);
}
PROBE_CORO(cast_and_parentheses) {
    int v = static_cast<int>((co_await make(7)));
    long w = long(co_await take(tracked(7)));
    PROBE_EXPECT(v == 7 && w == 7);
}
PROBE_CORO(await_inside_constant_p) {
    // Assertion macros of test frameworks look at their argument this way; the await must not run twice for it.
    static int runs = 0;
    auto counted = []() -> task<int> {
        co_await hop();
        co_return ++runs;
    };
    (void)__builtin_constant_p(co_await counted());
    int v = co_await counted();
    PROBE_EXPECT(v == 1);
}
