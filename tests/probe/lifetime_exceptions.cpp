// Exceptions at each stage of a coroutine's life and of an await.
#define PROBE_GROUP "exceptions"
#include "probe.hpp"

#include <string>

using namespace probe;

namespace {

enum class stage { none, operator_co_await, await_ready, suspend, resume };

class faulty {
public:
    explicit faulty(stage where) : where_(where), payload_(1) {}
    class awaiter {
    public:
        explicit awaiter(stage where) : where_(where), own_(2) {}
        bool await_ready() const { return maybe(stage::await_ready), false; }
        void await_suspend(std::coroutine_handle<> self) const {
            maybe(stage::suspend);
            ready(self);
        }
        int await_resume() const { return maybe(stage::resume), own_.value(); }

    private:
        void maybe(stage here) const {
            if (where_ == here) throw boom{};
        }
        stage where_;
        tracked own_;
    };
    awaiter operator co_await() const {
        if (where_ == stage::operator_co_await) throw boom{};
        return awaiter(where_);
    }

private:
    stage where_;
    tracked payload_;
};

task<int> guarded(stage where, const tracked& outside) {
    tracked local(1);
    int result = 0;
    try {
        tracked inner(outside);
        result = co_await faulty(where);
    } catch (boom) {
        result = -1;
    }
    co_await hop();
    co_return result + local;
}
task<int> unguarded(stage where) {
    tracked local(1);
    co_return co_await faulty(where);
}
task<int> expect_boom(task<int> t) {
    int caught = 0;
    try {
        (void)co_await t;
    } catch (boom) {
        caught = 1;
    }
    co_return caught;
}

// A coroutine that fails at a chosen point of its own machinery.
enum class point { none, promise_constructor, return_object, initial_suspend, initial_ready, initial_resume };
point throw_at = point::none;

template <bool Owning>
class fragile {
public:
    class promise_type {
    public:
        promise_type() {
            if (throw_at == point::promise_constructor) throw boom{};
        }
        static void* operator new(std::size_t size) { return ++seen.frames, std::malloc(size); }
        static void operator delete(void* memory) noexcept { --seen.frames, std::free(memory); }
        fragile get_return_object() {
            if (throw_at == point::return_object) throw boom{};
            return fragile(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        class initial {
        public:
            initial() noexcept {}
            bool await_ready() const {
                if (throw_at == point::initial_ready) throw boom{};
                return false;
            }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            void await_resume() const {
                if (throw_at == point::initial_resume) throw boom{};
            }
        };
        initial initial_suspend() const {
            if (throw_at == point::initial_suspend) throw boom{};
            return initial();
        }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { caught = true; }
        bool caught = false;
    };
    explicit fragile(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}
    fragile(fragile&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~fragile() {
        if (Owning && handle) handle.destroy();
    }
    std::coroutine_handle<promise_type> handle;
};
template <bool Owning>
fragile<Owning> fragile_coroutine(tracked) {
    co_return;
}

// Starts a coroutine that throws out of the call itself: the frame and the parameter copies must be gone.
template <bool Owning>
void expect_throw_at(point where) {
    throw_at = where;
    bool caught = false;
    try {
        auto f = fragile_coroutine<Owning>(tracked(1));
    } catch (boom) {
        caught = true;
    }
    PROBE_EXPECT(caught);
}

task<tracked> result_cannot_be_stored() {
    tracked t(7);
    tracked::copies_until_throw = 1;
    co_await hop();
    const tracked& view = t;
    co_return view;
}
task<int> argument_after(const tracked&, int n) {
    co_await hop();
    co_return n;
}

} // namespace

#define CAUGHT_AT(where)                                       \
    PROBE_CORO(caught_around_##where) {                        \
        tracked outside(5);                                    \
        int v = co_await guarded(stage::where, outside);       \
        PROBE_EXPECT(v == 0);                                  \
    }                                                          \
    PROBE_CORO(leaves_coroutine_from_##where) {                \
        int v = co_await expect_boom(unguarded(stage::where)); \
        PROBE_EXPECT(v == 1);                                  \
    }
CAUGHT_AT(operator_co_await)
CAUGHT_AT(await_ready)
CAUGHT_AT(suspend)
CAUGHT_AT(resume)

PROBE_CORO(nothing_thrown_inside_try) {
    tracked outside(5);
    int v = co_await guarded(stage::none, outside);
    PROBE_EXPECT(v == 3);
}
PROBE_CORO(thrown_by_awaited_task) {
    int v = co_await expect_boom(throwing());
    PROBE_EXPECT(v == 1);
}
PROBE_CORO(thrown_with_temporaries_alive) {
    int caught = 0;
    try {
        int v = co_await argument_after(tracked(1), co_await throwing());
        caught = v;
    } catch (boom) {
        caught = -1;
    }
    PROBE_EXPECT(caught == -1);
    PROBE_EXPECT(seen.built == seen.destroyed);
}
PROBE_CORO(thrown_by_argument_copy) {
    tracked s(1);
    int caught = 0;
    tracked::copies_until_throw = 1;
    try {
        tracked first(2);
        int v = co_await argument_after(tracked(s), 1);
        caught = v + first;
    } catch (tracked::copy_failed) {
        caught = -1;
    }
    PROBE_EXPECT(caught == -1);
}
PROBE_CORO(rethrown_through_three_levels) {
    auto inner = []() -> task<int> {
        tracked t(1);
        co_return co_await throwing();
    };
    auto outer = [](auto f) -> task<int> {
        tracked t(1);
        co_return co_await f();
    };
    int v = co_await expect_boom(outer(inner));
    PROBE_EXPECT(v == 1);
}
PROBE_CORO(catch_by_reference_then_await) {
    std::string text;
    try {
        co_await hop();
        throw std::string("a message that is longer than the small buffer");
    } catch (std::string& e) {
        text = e;
    }
    co_await hop();
    PROBE_EXPECT(text.size() == 46);
}
PROBE_CORO(storing_the_result_throws) {
    bool caught = false;
    try {
        tracked t = co_await result_cannot_be_stored();
    } catch (tracked::copy_failed) {
        caught = true;
    }
    PROBE_EXPECT(caught);
}
PROBE_CORO(taking_the_result_throws) {
    bool caught = false;
    auto t = make(7);
    try {
        co_await hop();
        tracked::moves_until_throw = 2; // first move stores the result, second one hands it out
        tracked v = co_await t;
    } catch (tracked::move_failed) {
        caught = true;
    }
    PROBE_EXPECT(caught);
}
PROBE_CASE(promise_constructor_throws) { expect_throw_at<true>(point::promise_constructor); }
PROBE_CASE(return_object_throws) { expect_throw_at<true>(point::return_object); }
PROBE_CASE(initial_suspend_throws_plain_handle) { expect_throw_at<false>(point::initial_suspend); }
PROBE_CASE(initial_ready_throws_plain_handle) { expect_throw_at<false>(point::initial_ready); }
PROBE_CASE(initial_suspend_throws_owning_object) { expect_throw_at<true>(point::initial_suspend); }
PROBE_CASE(initial_resume_throws_inside_body) {
    throw_at = point::initial_resume;
    auto f = fragile_coroutine<true>(tracked(1));
    f.handle.resume();
    PROBE_EXPECT(f.handle.promise().caught && f.handle.done());
}
