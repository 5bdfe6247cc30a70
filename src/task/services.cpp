#include <roost/task/services.hpp>

#include <algorithm>
#include <mutex>

namespace roost::inline ROOST_ABI::detail {

void service_list::add(job service) {
    std::vector<job> ended;  // goes when the lock has been left, and with it what the services returned
    try {
        std::unique_lock guard(lock_);
        if (over_) {
            guard.unlock();
            service.cancel(reason::plain_kind(reason_kind::closed));
            return;
        }
        if (jobs_.size() >= look_at_) {
            ended.reserve(jobs_.size());
            std::size_t kept = 0;
            for (job& j : jobs_) {
                if (j.is_finished()) {
                    ended.push_back(std::move(j));
                } else if (job& place = jobs_[kept++]; &place != &j) {
                    place = std::move(j);
                }
            }
            jobs_.resize(kept);
            look_at_ = std::max<std::size_t>(16, jobs_.size() * 2);
        }
        jobs_.push_back(service);
    } catch (...) {
        service.cancel();  // what is not in the list would never end
        throw;
    }
}

void service_list::cancel_all() noexcept {
    std::vector<job> all;
    {
        const std::lock_guard guard(lock_);
        all.swap(jobs_);
        over_ = true;
    }
    for (const job& j : all) {
        j.cancel(reason::plain_kind(reason_kind::closed));
    }
}

}  // namespace roost::inline ROOST_ABI::detail
