#include <roost/base/detail/metric_source.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::detail {

struct metric_source::list {
    small_mutex lock;
    metric_source* first = nullptr;
};

metric_source::list& metric_source::all() noexcept {
    static constinit list one;  // never destroyed: pools may outlive static objects
    return one;
}

void metric_source::enlist() noexcept {
#if !defined(ROOST_SEAM_MODEL)
    list& in = all();
    const std::lock_guard hold(in.lock);
    next_ = in.first;
    if (next_ != nullptr) {
        next_->prev_ = this;
    }
    in.first = this;
    is_listed_ = true;
#endif
}

void metric_source::delist() noexcept {
#if !defined(ROOST_SEAM_MODEL)
    list& in = all();
    for (;;) {
        {
            const std::lock_guard hold(in.lock);
            if (!is_listed_) {
                return;
            }
            is_leaving_ = true;
            if (readers_ == 0) {
                (prev_ == nullptr ? in.first : prev_->next_) = next_;
                if (next_ != nullptr) {
                    next_->prev_ = prev_;
                }
                is_listed_ = false;
                return;
            }
        }
        yield_thread();
    }
#endif
}

void metric_source::read_all(metric_sink& to) {
    list& in = all();
    std::unique_lock hold(in.lock);
    for (metric_source* at = in.first; at != nullptr; at = at->next_) {
        if (at->is_leaving_) {
            continue;
        }
        ++at->readers_;  // I1
        hold.unlock();
        try {
            at->read(to);
        } catch (...) {
            hold.lock();
            --at->readers_;
            throw;
        }
        hold.lock();
        --at->readers_;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
