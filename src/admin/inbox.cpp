#include <roost/admin/detail/inbox.hpp>

#include <mutex>
#include <utility>

namespace roost::inline ROOST_ABI::admin::detail {

void inbox::post(std::shared_ptr<parcel> p) noexcept {
    {
        const std::lock_guard hold(lock_);
        if (!open_ || p->queued_) {
            return;
        }
        p->queued_ = true;
        p->next_ = std::move(first_);
        first_ = std::move(p);
    }
    bell_.ring();
}

std::shared_ptr<parcel> inbox::take() noexcept {
    const std::lock_guard hold(lock_);
    std::shared_ptr<parcel> taken = std::move(first_);
    if (taken) {
        first_ = std::move(taken->next_);
        taken->queued_ = false;
    }
    return taken;
}

void inbox::close() noexcept {
    {
        const std::lock_guard hold(lock_);
        open_ = false;
    }
    while (take()) {}
}

}  // namespace roost::inline ROOST_ABI::admin::detail
