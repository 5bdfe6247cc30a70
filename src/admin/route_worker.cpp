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
    const std::lock_guard hold(state_->lock);
    state_->waiting.push_back(std::move(c));
    state_->news.notify_one();
}

void route_worker::withdraw(const http_call& c) noexcept {
    const std::lock_guard hold(state_->lock);
    std::erase_if(state_->waiting, [&](const std::shared_ptr<http_call>& other) { return other.get() == &c; });
}

duration route_worker::stuck_for(time_point now) const noexcept {
    const std::lock_guard hold(state_->lock);
    return state_->running ? now - state_->begun : duration(0);
}

void route_worker::begin_end() noexcept {
    const std::lock_guard hold(state_->lock);
    state_->ending = true;
    state_->waiting.clear();
    state_->news.notify_one();
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
    lock.lock();
    for (;;) {
        while (waiting.empty() && !ending) {
            news.wait(lock);
        }
        if (waiting.empty()) {
            const http_handler ended = std::move(handler);  // destroyed on this thread, outside the lock
            lock.unlock();
            return;
        }
        std::shared_ptr<http_call> next = std::move(waiting.front());
        waiting.pop_front();
        running = true;
        begun = now();
        lock.unlock();
        next->run(handler);
        back->post(std::move(next));
        lock.lock();
        running = false;
    }
}

}  // namespace roost::inline ROOST_ABI::admin::detail
