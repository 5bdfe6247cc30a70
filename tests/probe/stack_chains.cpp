// Chains of 100 000 frames that complete, throw, are cancelled and are torn down.
#include "stack.hpp"

#include <pthread.h>

using namespace probe;

namespace {

constexpr int depth = 100'000;

// Destroys a suspended chain from its leaf to its root, one frame at a time.
template <class Handle>
void destroy_leaf_first(Handle leaf) {
    while (leaf) {
        stack.sample();
        auto parent = leaf.promise().parent;
        if (leaf.promise().owner) leaf.promise().owner->disown();
        leaf.destroy();
        leaf = parent;
    }
}

template <class Way>
typename chain_task<Way>::handle_type leaf_of_chain;
template <class Way>
class stop_here {
public:
    stop_here() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(typename chain_task<Way>::handle_type self) const noexcept {
        leaf_of_chain<Way> = self;
        if constexpr (std::is_same_v<Way, trampoline>) next_up = nullptr;
    }
    void await_resume() const noexcept {}
};
template <class Way>
chain_task<Way> chain(int n, bool throws) {
    tracked local(n);
    if (n == 0) {
        co_await stop_here<Way>();
        if (throws) throw boom{};
        co_return 1;
    }
    int below = co_await chain<Way>(n - 1, throws);
    co_return below + 1;
}
template <class Way>
void grow(chain_task<Way>& root) {
    stack.start();
    Way::run(root.handle());
    PROBE_EXPECT(seen.built - seen.destroyed == depth + 1);
    PROBE_EXPECT(leaf_of_chain<Way> != nullptr);
}

template <class Way>
void deep_complete() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        Way::run(leaf_of_chain<Way>);
        PROBE_EXPECT(root.handle().done() && root.handle().promise().value == depth + 1);
    }
    finish();
}
template <class Way>
void deep_throw() {
    {
        auto root = chain<Way>(depth, true);
        grow<Way>(root);
        Way::run(leaf_of_chain<Way>);
        bool caught = false;
        try {
            if (root.handle().promise().error) std::rethrow_exception(root.handle().promise().error);
        } catch (boom&) {
            caught = true;
        }
        PROBE_EXPECT(caught);
    }
    finish();
}
// Cancellation by whoever holds the leaf: nothing is resumed, frames go leaf first.
template <class Way>
void deep_cancel() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        destroy_leaf_first(leaf_of_chain<Way>);
        root.disown();
    }
    finish();
}
// The owner of the root goes away: it walks down to the leaf and destroys upward.
template <class Way>
void deep_teardown() {
    {
        auto root = chain<Way>(depth, false);
        grow<Way>(root);
        auto leaf = root.handle();
        while (leaf.promise().child) leaf = leaf.promise().child;
        destroy_leaf_first(leaf);
        root.disown();
    }
    finish();
}
// What the naive way costs: destroying the root destroys its child inside, and so on. Recursion by nature, so this
// only has to be right, on a stack that is big enough; the figure is the stack per level.
class deep_probe {
public:
    ~deep_probe() {
        stack.sample();
        ++destroyed;
    }
    static inline int destroyed = 0;
};
template <class Way>
chain_task<Way> nested_chain(int n) {
    deep_probe at_the_end;
    if (n == 0) {
        co_await stop_here<Way>();
        co_return 1;
    }
    int below = co_await nested_chain<Way>(n - 1);
    co_return below + 1;
}
template <class Way>
void* nested_body(void*) {
    stack.unbounded();
    stack.start();
    constexpr int levels = 10'000; // enough for a slope, kind to sanitizers with a shadow stack
    {
        auto root = nested_chain<Way>(levels);
        Way::run(root.handle());
        stack.start();
    }
    PROBE_EXPECT(deep_probe::destroyed == levels + 1);
    fact("%zu B/level", stack.deepest() / levels);
    PROBE_EXPECT(frames_alive == 0);
    return nullptr;
}
template <class Way>
void nested_teardown() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{256} << 20);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &nested_body<Way>, nullptr) != 0) std::abort();
    pthread_join(thread, nullptr);
}

} // namespace

BOTH_WAYS(deep_complete, deep_complete<way>())
BOTH_WAYS(deep_throw, deep_throw<way>())
BOTH_WAYS(deep_cancel, deep_cancel<way>())
BOTH_WAYS(deep_teardown, deep_teardown<way>())
BOTH_WAYS(nested_teardown, nested_teardown<way>())
