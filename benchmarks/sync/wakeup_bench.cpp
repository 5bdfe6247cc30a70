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
    std::atomic<bool>* woken;
};

// What a waker is to the other designs, an executor is to Roost: the one thing that is called to wake somebody. The others
// call each waiter's function, this one raises each waiter's flag; a crowd with one executor is handed to it as a chain.
class flag_executor final : public roost::executor {
public:
    flag_executor() : executor(chains_t()) {}
    bool post(roost::ext::work& w) noexcept override {
        auto& n = *static_cast<roost_node*>(static_cast<roost::ext::waiter&>(w).frame());
        n.wait->await_resume();
        n.woken->store(true, std::memory_order_release);
        return true;
    }
    void post_all(roost::ext::work_list& all) noexcept override {
        while (roost::ext::work* w = all.pop()) post(*w);
    }
};

flag_executor raises_flags;
void never_run(roost::ext::work&) noexcept { std::abort(); }

class roost_queue {
public:
    using node = roost_node;
    // The queue pointer and the condition belong to the call; the other designs get them as arguments.
    static constexpr std::size_t node_bytes = sizeof(roost::ext::waiter);

    bool wait_unless(node& n, std::atomic<bool>& woken, bool (*)()) {
        n.woken = &woken;
        n.wait.emplace(queue_, never());
        return !n.wait->start({&n, &never_run, raises_flags});
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
