#include "waits.hpp"

#include <roost/base/assert.hpp>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace ext;
using namespace seam;

// --- socket_wait -------------------------------------------------------------------------------------------------------------

socket_wait::socket_wait(const std::string& name, poller& in, int fd, std::uint32_t events, time_point deadline) noexcept
    : work(+[](work& w) noexcept { static_cast<socket_wait&>(w).next_.resume(); }),
      entry(+[](entry& e, std::uint32_t got) noexcept {
          auto& self = static_cast<socket_wait&>(e);
          self.events_ = got;
          self.next_.post(self);
      }),
      name_(name),
      sockets_(in),
      fd_(fd),
      events_(events),
      deadline_(deadline) {}

socket_wait::~socket_wait() {
    if (suspended_ && !sockets_.withdraw(*this)) {
        roost::detail::panic("socket wait", name_, site(), "its coroutine was destroyed while it is being resumed");
    }
}

bool socket_wait::begin() noexcept {
    suspended_ = true;
    if (sockets_.arm(*this, fd_, events_, deadline_)) {
        return true;
    }
    suspended_ = false;
    events_ = poller::none;
    return false;
}

std::uint32_t socket_wait::await_resume() noexcept {
    suspended_ = false;
    return events_;
}

bool socket_wait::try_cancel() noexcept {
    if (!sockets_.withdraw(*this)) {
        return false;
    }
    suspended_ = false;
    return true;
}

// --- side_wait ---------------------------------------------------------------------------------------------------------------
//
// The poller's entry is the claim: the call, the deadline or a cancel that withdraws or fires it ends the wait.
// The call's lock is taken before the poller's.

void limited_call::returned() noexcept {
    lock_.lock();
    has_returned_ = true;
    side_wait* const claimed = waiter_ != nullptr && waiter_->sockets_.withdraw(*waiter_) ? waiter_ : nullptr;
    lock_.unlock();
    if (claimed != nullptr) {
        claimed->next_.post(*claimed);
    }
}

side_wait::side_wait(const std::string& name, poller& sockets, std::shared_ptr<limited_call> call,
                     time_point deadline) noexcept
    : work(+[](work& w) noexcept { static_cast<side_wait&>(w).next_.resume(); }),
      entry(+[](entry& e, std::uint32_t) noexcept {
          auto& self = static_cast<side_wait&>(e);
          self.next_.post(self);
      }),
      name_(name),
      sockets_(sockets),
      call_(std::move(call)),
      deadline_(deadline) {}

side_wait::~side_wait() {
    if (suspended_) {
        if (!sockets_.withdraw(*this)) {
            roost::detail::panic("connect", name_, site(), "its coroutine was destroyed while it is being resumed");
        }
        leave();
    }
}

bool side_wait::begin() noexcept {
    suspended_ = true;
    call_->waiter_ = this;
    if (sockets_.arm(*this, -1, poller::none, deadline_)) {
        if (adapters_access::starts_of(sockets_).submit(call_)) {
            return true;  // another thread may have resumed the coroutine already: no member is touched from here on
        }
        if (!sockets_.withdraw(*this)) {
            return true;  // the deadline resumes it
        }
        never_began_ = true;
    }
    suspended_ = false;
    return false;
}

// Detaches the waiter from the call. Returns true if the call has returned.
bool side_wait::leave() noexcept {
    never_began_ = adapters_access::starts_of(sockets_).withdraw(*call_) || never_began_;
    call_->lock_.lock();
    call_->waiter_ = nullptr;
    const bool has_returned = call_->has_returned_;
    call_->lock_.unlock();
    return has_returned;
}

bool side_wait::await_resume() noexcept {
    suspended_ = false;
    return leave();
}

bool side_wait::try_cancel() noexcept {
    if (!sockets_.withdraw(*this)) {
        return false;
    }
    leave();
    suspended_ = false;
    return true;
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
