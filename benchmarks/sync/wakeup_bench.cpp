// Roost's queue on the template that measures the four other designs of benchmarks/compare/wakeup.
#include "../compare/wakeup/cases.hpp"

#include <roost/sync/waiter_queue.hpp>

#include <optional>

namespace {

struct never {
    bool operator()() const noexcept { return wakeup::never(); }
};

// As in a coroutine: the operation is made, started, and finished by whoever was woken.
struct roost_node {
    std::optional<roost::waiter_queue::operation<never>> wait;
    wakeup::waker wake;

    static void woken(roost::work& w) noexcept {
        auto& n = *static_cast<roost_node*>(static_cast<roost::waiter&>(w).frame());
        n.wait->await_resume();
        n.wake();
    }
};

// What a waker is to the other designs, an executor is to Roost: this one calls the node's waker.
class waker_executor final : public roost::executor {
public:
    bool post(roost::work& w) noexcept override {
        roost_node::woken(w);
        return true;
    }
};

waker_executor calls_waker;

class roost_queue {
public:
    using node = roost_node;
    // The queue pointer and the condition belong to the call; the other designs get them as arguments.
    static constexpr std::size_t node_bytes = sizeof(roost::waiter);

    bool add_waiter_if(node& n, wakeup::waker w, bool (*)()) {
        n.wake = w;
        n.wait.emplace(queue_, never());
        return !n.wait->start({&n, &node::woken, calls_waker});
    }
    bool wake_one() { return queue_.wake_one(); }
    void wake_all() { queue_.wake_all(); }
    bool cancel(node& n) {
        bool const mine = n.wait->try_cancel();
        if (mine) n.wait->await_resume();
        return mine;
    }

private:
    roost::waiter_queue queue_;
};

} // namespace

WAKEUP_CASES(roost_queue, "roost", "ours")
