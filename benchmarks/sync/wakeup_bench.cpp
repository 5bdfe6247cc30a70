// Roost's queue on the template that measures the four other designs of benchmarks/compare/wakeup.
#include "../compare/wakeup/cases.hpp"

#include <roost/sync/waiter_queue.hpp>

#include <optional>

namespace {

class roost_queue {
    using operation = roost::waiter_queue::operation<bool (*)()>;

public:
    // As in a coroutine: the operation is made, started, and finished by whoever was woken.
    struct node {
        std::optional<operation> wait;
        wakeup::waker wake;
    };
    // The queue pointer and the condition belong to the call; the other designs get them as arguments.
    static constexpr std::size_t node_bytes = sizeof(roost::waiter);

    bool add_waiter_if(node& n, wakeup::waker w, bool (*condition)()) {
        n.wake = w;
        n.wait.emplace(queue_, condition);
        return !n.wait->start({&n, &woken, {}});
    }
    bool wake_one() { return queue_.wake_one(); }
    void wake_all() { queue_.wake_all(); }
    bool cancel(node& n) {
        bool const mine = n.wait->try_cancel();
        if (mine) n.wait->await_resume();
        return mine;
    }

private:
    static void woken(roost::work& w) noexcept {
        auto& n = *static_cast<node*>(static_cast<roost::waiter&>(w).frame());
        n.wait->await_resume();
        n.wake();
    }

    roost::waiter_queue queue_;
};

} // namespace

WAKEUP_CASES(roost_queue, "roost", "ours")
