#include <roost/asio/detail/run_wait.hpp>

#include <roost/base/clock.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr unsigned attempts_at_once = 8;
constexpr auto pause = std::chrono::microseconds(200);
constexpr auto first_delay = std::chrono::milliseconds(1);
constexpr unsigned most_doublings = 6;
}  // namespace

run_wait::run_wait(net::io_context& io)
    : work(received),
      timer(fired),
      where_(&io_executor::of(io)),
      at_work_(io.get_executor()),
      waiting_thread_(thread_index()) {}

bool run_wait::has_arrived() noexcept {
    lock_.lock();
    const bool arrived = phase_ == phase::arrived;
    lock_.unlock();
    return arrived;
}

// From here on no timer is armed. When disarm() returns, no thread is inside fired().
void run_wait::leave() noexcept {
    lock_.lock();
    phase_ = phase::left;
    lock_.unlock();
    static_cast<void>(where_->timers()->disarm(*this));
    at_work_.reset();
}

void run_wait::send() noexcept {
    self_ = shared_from_this();
    where_->post(*this);
}

void run_wait::received(work& self) noexcept {
    auto& mine = static_cast<run_wait&>(self);
    const std::shared_ptr<run_wait> kept = std::move(mine.self_);
    if (!mine.tell()) {
        mine.post_again();
    }
}

bool run_wait::tell() noexcept {
    lock_.lock();
    const bool is_over = phase_ == phase::left;
    if (!is_over) {
        phase_ = phase::arrived;
    }
    lock_.unlock();
    return is_over || thread_index() == waiting_thread_;
}

void run_wait::post_again() noexcept {
    const unsigned before = attempts_++;
    if (before < attempts_at_once) {
        send();
        stay_away();
        return;
    }
    lock_.lock();
    if (phase_ != phase::left) {
        set_deadline(where_->timers()->now() + first_delay * (1U << std::min(before - attempts_at_once, most_doublings)));
        static_cast<void>(where_->timers()->arm(*this));  // refused: the context is being destroyed
    }
    lock_.unlock();
}

void run_wait::fired(timer& self) noexcept { static_cast<run_wait&>(self).send(); }

void run_wait::stay_away() noexcept {
    const time_point until = now() + pause;
    bool is_over = false;
    while (!is_over && now() < until) {
        yield_thread();
        lock_.lock();
        is_over = phase_ == phase::left;
        lock_.unlock();
    }
}

}  // namespace roost::inline ROOST_ABI::detail
