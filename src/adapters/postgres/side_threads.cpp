#include "side_threads.hpp"

#include <roost/base/failure_sink.hpp>
#include <roost/base/format_duration.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace ext;
using namespace seam;

namespace {

using guard_type = std::lock_guard<small_mutex>;

class running_call {
public:
    running_call(std::shared_ptr<side_call> c, time_point began) noexcept : call(std::move(c)), since(began) {}
    std::shared_ptr<side_call> call;
    time_point since;
};

void report_left_behind(const std::string& threads, const running_call& left) noexcept {
    try {
        throw std::runtime_error(left.call->name() + " has not returned for " + format_duration(now() - left.since) +
                                 "; its thread is abandoned");
    } catch (...) {
        report_failure("postgres", threads, site(), std::current_exception());
    }
}

}  // namespace

// Everything but the name is under the lock. The threads share ownership: an abandoned one can still use it.
struct side_threads::shared {
    shared(std::string n, std::size_t most) : name(std::move(n)), limit(most) { running.reserve(most); }

    const std::string name;
    const std::size_t limit;
    small_mutex lock;
    std::size_t threads = 0;
    std::shared_ptr<side_call> first;
    side_call* last = nullptr;
    std::vector<running_call> running;

    std::shared_ptr<side_call> pop() noexcept {
        std::shared_ptr<side_call> call = std::move(first);
        if (call) {
            first = std::move(call->next_);
            last = first ? last : nullptr;
        }
        return call;
    }
};

side_threads::side_threads(std::string name, std::size_t limit)
    : shared_(std::make_shared<shared>(std::move(name), limit)) {}

side_threads::~side_threads() {
    std::vector<running_call> left;
    std::shared_ptr<side_call> dropped;
    {
        const guard_type held(shared_->lock);
        dropped = std::move(shared_->first);
        shared_->last = nullptr;
        left.swap(shared_->running);
    }
    while (dropped) {
        dropped = std::move(dropped->next_);
    }
    for (const running_call& each : left) {
        report_left_behind(shared_->name, each);
    }
}

bool side_threads::submit(std::shared_ptr<side_call> call) noexcept {
    shared& s = *shared_;
    const guard_type held(s.lock);
    if (s.threads < s.limit) {
        try {
            thread fresh([keep = shared_] { run(*keep); });
            fresh.detach();
            ++s.threads;
        } catch (...) {
            if (s.threads == 0) {
                return false;
            }
        }
    }
    side_call* const added = call.get();
    (s.last == nullptr ? s.first : s.last->next_) = std::move(call);
    s.last = added;
    return true;
}

bool side_threads::withdraw(const side_call& call) noexcept {
    std::shared_ptr<side_call> gone;  // destroyed without the lock held
    shared& s = *shared_;
    const guard_type held(s.lock);
    side_call* before = nullptr;
    for (std::shared_ptr<side_call>* at = &s.first; *at; at = &(*at)->next_) {
        if (at->get() == &call) {
            gone = std::move(*at);
            *at = std::move(gone->next_);
            s.last = s.last == gone.get() ? before : s.last;
            return true;
        }
        before = at->get();
    }
    return false;
}

// Runs calls until none is left. A call is removed from the list of running ones before its waiter is notified.
void side_threads::run(shared& s) noexcept {
    for (;;) {
        std::shared_ptr<side_call> call;
        {
            const guard_type held(s.lock);
            call = s.pop();
            if (!call) {
                --s.threads;
                return;
            }
            s.running.emplace_back(call, now());  // the space is reserved
        }
        call->run();
        {
            const guard_type held(s.lock);
            std::erase_if(s.running, [&call](const running_call& each) { return each.call == call; });
        }
        call->returned();
    }
}

}  // namespace roost::inline ROOST_ABI::postgres::detail
