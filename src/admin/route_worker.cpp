#include <roost/admin/detail/route_worker.hpp>

#include <algorithm>
#include <mutex>

namespace roost::inline ROOST_ABI::admin::detail {

void http_call::run(const http_handler& handler) noexcept {
    try {
        reply_ = handler(request_);
        return;
    } catch (...) {}
    try {
        reply_ = http_reply::text(500, "the handler of this page failed\n");
    } catch (...) {
        reply_ = http_reply();
    }
}

route_worker::route_worker(http_handler handler, std::shared_ptr<inbox> back)
    : state_(std::make_shared<shared>(std::move(handler), std::move(back))) {}

void route_worker::submit(std::shared_ptr<http_call> c) {
    if (!thread_.joinable()) {
        thread_ = thread([mine = state_] { mine->run(); });
    }
    const std::lock_guard hold(state_->lock_);
    state_->waiting_.push_back(std::move(c));
    state_->news_.notify_one();
}

void route_worker::withdraw(const http_call& c) noexcept {
    const std::lock_guard hold(state_->lock_);
    std::erase_if(state_->waiting_, [&](const std::shared_ptr<http_call>& other) { return other.get() == &c; });
}

duration route_worker::stuck_for(time_point now) const noexcept {
    const std::lock_guard hold(state_->lock_);
    return state_->running_ ? now - state_->begun_ : duration(0);
}

void route_worker::begin_end() noexcept {
    const std::lock_guard hold(state_->lock_);
    state_->ending_ = true;
    state_->waiting_.clear();
    state_->news_.notify_one();
}

bool route_worker::finish(time_point deadline) noexcept {
    if (!thread_.joinable()) {
        return true;
    }
    const bool ended = thread_.join_until(deadline);
    if (!ended) {
        thread_.detach();
    }
    return ended;
}

void route_worker::shared::run() noexcept {
    lock_.lock();
    for (;;) {
        while (waiting_.empty() && !ending_) {
            news_.wait(lock_);
        }
        if (waiting_.empty()) {
            const http_handler ended = std::move(handler_);  // destroyed on this thread, outside the lock
            lock_.unlock();
            return;
        }
        std::shared_ptr<http_call> next = std::move(waiting_.front());
        waiting_.pop_front();
        running_ = true;
        begun_ = now();
        lock_.unlock();
        next->run(handler_);
        back_->post(std::move(next));
        lock_.lock();
        running_ = false;
    }
}

}  // namespace roost::inline ROOST_ABI::admin::detail
