#include "waits.hpp"

#include <roost/base/assert.hpp>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace ext;
using namespace seam;

// --- socket_wait -------------------------------------------------------------------------------------------------------------

socket_wait::socket_wait(const std::string& name, poller& shared, io::descriptor& socket, std::uint32_t events,
                         time_point deadline) noexcept
    : event_wait(
          shared, +[](event_wait& e) noexcept { static_cast<socket_wait&>(e).next().resume(); }),
      name_(name),
      socket_(socket),
      events_(events),
      deadline_(deadline) {}

socket_wait::~socket_wait() {
    if (suspended_) {
        if (!claim()) {
            roost::detail::panic("socket wait", name_, site(), "its coroutine was destroyed while it is being resumed");
        }
        end();
    }
}

bool socket_wait::suspend() noexcept {
    suspended_ = true;
    set_limit(deadline_);
    return begin(&socket_, events_);
}

std::uint32_t socket_wait::await_resume() noexcept {
    suspended_ = false;
    return end();
}

bool socket_wait::try_cancel() noexcept {
    if (!claim()) {
        return false;
    }
    end();
    suspended_ = false;
    return true;
}

// --- side_wait ---------------------------------------------------------------------------------------------------------------
//
// The call, the deadline or a cancel ends the wait. The call's lock is taken before that of the wait.

void limited_call::returned() noexcept {
    lock_.lock();
    has_returned_ = true;
    side_wait* const claimed = waiter_ != nullptr && waiter_->claim() ? waiter_ : nullptr;
    lock_.unlock();
    if (claimed != nullptr) {
        claimed->post();
    }
}

side_wait::side_wait(const std::string& name, poller& shared, std::shared_ptr<limited_call> call,
                     time_point deadline) noexcept
    : event_wait(
          shared, +[](event_wait& e) noexcept { static_cast<side_wait&>(e).next().resume(); }),
      name_(name),
      shared_(shared),
      call_(std::move(call)),
      deadline_(deadline) {}

side_wait::~side_wait() {
    if (suspended_) {
        if (!claim()) {
            roost::detail::panic("connect", name_, site(), "its coroutine was destroyed while it is being resumed");
        }
        end();
        leave();
    }
}

bool side_wait::suspend() noexcept {
    suspended_ = true;
    set_limit(deadline_);
    if (!adapters_access::starts_of(shared_).submit(call_)) {
        never_began_ = true;
        return false;
    }
    limited_call& call = *call_;
    call.lock_.lock();
    call.waiter_ = this;
    const bool waits = !call.has_returned_ && begin(nullptr, none);
    call.lock_.unlock();  // from here on another thread may resume the coroutine: no member is touched
    return waits;
}

// Detaches the waiter from the call. Returns true if the call has returned.
bool side_wait::leave() noexcept {
    never_began_ = adapters_access::starts_of(shared_).withdraw(*call_) || never_began_;
    call_->lock_.lock();
    call_->waiter_ = nullptr;
    const bool has_returned = call_->has_returned_;
    call_->lock_.unlock();
    return has_returned;
}

bool side_wait::await_resume() noexcept {
    suspended_ = false;
    end();
    return leave();
}

bool side_wait::try_cancel() noexcept {
    if (!claim()) {
        return false;
    }
    end();
    leave();
    suspended_ = false;
    return true;
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
