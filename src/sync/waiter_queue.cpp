#include <roost/base/failure_sink.hpp>
#include <roost/sync/waiter_queue.hpp>

#include <exception>
#include <string>

namespace roost::inline ROOST_ABI {

using namespace ext;

waiter_queue::~waiter_queue() {
    if (!waiters_.is_quiet()) {
        detail::destroyed_with_waiters(describe(), waiters_.size_approx());
    }
}

void waiter_queue::condition_threw() noexcept {
    const std::string thrown = roost::describe(std::current_exception());
    detail::panic("waiter queue", name_, site(),
                  "the condition passed to wait_unless() or wait_blocking() threw " + thrown +
                      "; it is called under the queue's lock and must not throw: compute what may fail before the wait");
}

bool waiter_queue::cancel(waiter& w, claim as) noexcept {
    if (w.is_claimed()) {
        return false;
    }
    waiters_.lock();
    const bool claimed = waiters_.take_if_queued(w, as);
    waiters_.unlock();
    return claimed;
}

bool waiter_queue::wake_first() noexcept {
    const char* what = name_;  // once delivered, a waiter may destroy this queue
    waiters_.lock();
    waiter* first = waiters_.pick().who();
    if (first == nullptr) {
        waiters_.unlock();
        return false;
    }
    waiters_.unlock(waiters_.take(*first, claim::delivered));
    first->deliver(what);
    return true;
}

std::size_t waiter_queue::wake_some(std::size_t n) noexcept {
    const char* what = name_;
    detail::wake_chain woken;
    std::size_t count = 0;
    waiters_.lock();
    while (count < n) {
        waiter* first = waiters_.pick().who();
        if (first == nullptr) {
            break;
        }
        waiters_.take(*first, claim::delivered);
        woken.add(*first);
        ++count;
    }
    waiters_.unlock();
    woken.deliver(what);  // mutate
    return count;
}

void waiter_queue::wake_queued() noexcept {
    const char* what = name_;
    waiters_.lock();
    detail::wake_chain woken = waiters_.take_all();
    waiters_.unlock();
    woken.deliver(what);
}

}  // namespace roost::inline ROOST_ABI
