// Threads that wait in the queue of a pool: they spin, park, and take a resource when notified. See pool_queue.hpp.

// Order T8: pool/detail/pool_queue.hpp.

#include <roost/pool/detail/pool_creation.hpp>
#include <roost/pool/detail/pool_life.hpp>
#include <roost/pool/detail/pool_queue.hpp>
#include <roost/sync/detail/limits.hpp>
#include <roost/sync/detail/thread_waiter.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

bool pool_queue::acquire_in_thread(pool_waiter& result, time_point deadline) noexcept {
    const bool has_unchecked = result.given == gift::unchecked;
    for (int spin = 0; !has_unchecked && spin < acquire_spins; ++spin) {
        const bool past = may_barge_.load(mo::relaxed);  // T8
        slot_base* s = stripes_.take_anywhere(past, nullptr);
        if (s != nullptr) {
            result.given = gift::resource;
            result.slot = s;
            return true;
        }
        if (!settings_.creates_async) {
            s = creation_.try_reserve();
            if (s != nullptr) {
                result.given = gift::permit;
                result.slot = s;
                return true;
            }
        }
        spin_hint();
    }
    basic_thread_waiter<parker, pool_waiter> self;
    self.given = result.given;
    self.slot = result.slot;
    const bool got = !enqueue(self) || sleep(self, deadline);
    self.finish();
    result.given = self.given;
    result.slot = self.slot;
    result.cause = std::move(self.cause);
    return got;
}

template <class Node>
bool pool_queue::sleep(Node& self, time_point deadline) noexcept {
    for (;;) {
        const auto how = self.sleep_in(waiters_, deadline);
        if (how == Node::woken::served) {
            return true;
        }
        const bool has_token = how == Node::woken::notified;
        pool_effects fx;
        slot_base* s = waiters_.front() == &self ? stripes_.take_anywhere(true, &fx.units) : nullptr;
        if (s == nullptr && has_token) {
            fail_hopeless(fx);  // the resource may be idle but not available, because the parent has closed
            settle();
            unlock_and_run(fx);
            continue;
        }
        if (s != nullptr) {
            self.is_notified = true;  // the thread runs, so it needs no token
            give(self, gift::resource, s, fx);
            self.is_notified = false;
        } else {
            self.leave_making();
            waiters_.take(self, claim::expired);
            pool_counters::add_one_locked(life_.counters().withdrawn);
        }
        serve(fx);
        unlock_and_run(fx);
        return s != nullptr;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
