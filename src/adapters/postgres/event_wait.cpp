#include "event_wait.hpp"

#include <roost/base/assert.hpp>

#include <mutex>
#include <utility>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace ext;
using namespace seam;

using guard_type = std::lock_guard<small_mutex>;

// --- continuation ------------------------------------------------------------------------------------------------------------

void continuation::post(work& w) const noexcept {
    if (executor_) {
        post_or_fall_back(executor_, w, "a PostgreSQL connection");
    } else {
        w.run();
    }
}

void continuation::post_last(work& w) const noexcept {
    if (!executor_ || !executor_->post_last(w)) {
        post(w);
    }
}

// --- limits ------------------------------------------------------------------------------------------------------------------

event_wait::limit::limit(event_wait& of) noexcept
    : timer(+[](timer& t) noexcept { static_cast<limit&>(t).of_->expire({}); }), of_(&of) {}

bool event_wait::limit::arm(timer_service* in, time_point at) noexcept {
    set_deadline(at);
    timers_ = in;
    if (in != nullptr && !in->arm(*this)) {
        timers_ = nullptr;
    }
    return timers_ != nullptr;
}

void event_wait::limit::disarm() noexcept {
    if (timers_ != nullptr) {
        static_cast<void>(std::exchange(timers_, nullptr)->disarm(*this));
    }
}

void event_wait::arm(limit& which, time_point at) noexcept {
    which.disarm();
    if (at != no_deadline && !which.arm(source_ ? source_->timers() : nullptr, at)) {
        expire(std::make_error_code(std::errc::operation_canceled));  // the timers have ended: nothing may wait for ever
    }
}

void event_wait::expire(std::error_code why) noexcept {
    lock_.lock();
    expired_ = true;
    why_ = why ? why : why_;
    const bool ends = now_ && now_->try_win(this);
    lock_.unlock();
    if (ends) {
        post();
    }
}

// --- one wait ----------------------------------------------------------------------------------------------------------------

// Runs where the events are from.
void event_wait::attempt::happened(work& w) noexcept {
    event_wait& mine = *static_cast<attempt&>(static_cast<waiter&>(w).of_choice()).of_;
    if (mine.source_ == mine.next_.executor()) {
        mine.woken_(mine);
    } else {
        mine.post();
    }
}

std::uint32_t event_wait::attempt::start_one(operation& op, std::uint32_t event) noexcept {
    if (!op.await_ready() && op.start(resume_target(*this, &attempt::happened, of_->source_))) {
        return none;
    }
    of_->why_ = op.await_resume().code();
    return event;
}

std::uint32_t event_wait::attempt::start(io::descriptor& socket, std::uint32_t events) noexcept {
    std::uint32_t found = none;
    if ((events & readable) != 0) {
        found = start_one(in_.emplace(socket.readable()), readable);
    }
    if (found == none && (events & writable) != 0) {
        found = start_one(out_.emplace(socket.writable()), writable);
    }
    return found == none || try_win(this) ? found : std::uint32_t(none);
}

std::uint32_t event_wait::attempt::finish_one(std::optional<operation>& op, std::uint32_t event) noexcept {
    if (!op || !op->node().is_started()) {
        return none;
    }
    const bool happened = winner() == &op->node();
    if (!happened) {
        static_cast<void>(op->try_cancel());
    }
    op->node().finish();
    return happened ? event : std::uint32_t(none);
}

std::uint32_t event_wait::attempt::finish() noexcept { return finish_one(in_, readable) | finish_one(out_, writable); }

// --- the waits ---------------------------------------------------------------------------------------------------------------

event_wait::event_wait(poller& shared, woken_function woken) noexcept
    : work(+[](work& w) noexcept {
          auto& self = static_cast<event_wait&>(w);
          self.woken_(self);
      }),
      shared_(shared),
      woken_(woken),
      limit_(*this),
      hurry_(*this) {}

event_wait::~event_wait() {
    limit_.disarm();
    hurry_.disarm();
}

void event_wait::bind(const continuation& next) noexcept {
    next_ = next;
    source_ = adapters_access::source_of_events(shared_, next.executor());
}

// Another thread may resume the coroutine before this returns. Then it waits for the lock.
bool event_wait::begin(io::descriptor* socket, std::uint32_t events) noexcept {
    const guard_type held(lock_);
    if (!source_) {
        why_ = std::make_error_code(std::errc::resource_unavailable_try_again);
    }
    if (expired_ || why_) {
        return false;
    }
    now_.emplace(*this);
    ended_ = socket == nullptr ? std::uint32_t(none) : now_->start(*socket, events);
    return ended_ == none;
}

std::uint32_t event_wait::end() noexcept {
    const guard_type held(lock_);
    std::uint32_t how = std::exchange(ended_, none);
    if (now_) {
        how |= now_->finish();
        now_.reset();
    }
    return how | (std::exchange(expired_, false) ? expired : none) | (why_ ? refused : none);
}

bool event_wait::claim() noexcept {
    const guard_type held(lock_);
    return now_ && now_->try_win(this);
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
