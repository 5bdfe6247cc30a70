#include <roost/task/detail/job/launch_limit.hpp>

#include <roost/task/scope_options.hpp>

#include <mutex>

// I1       an entry is queued only while no slot is free
// I2       an entry that is no longer queued has the slot: the thread that unlinked it handed the slot over

namespace roost::inline ROOST_ABI {

void scope_options::refuse_zero() const noexcept {
    detail::panic("scope", name_.text(), site_, "at_most(0) would never run a child; pass at least one");
}

namespace detail {

launch_limit::slot::slot(launch_limit& from) : from_(&from) {
    {
        const std::lock_guard guard(from.lock_);
        if (from.free_ > 0) {
            --from.free_;
            return;
        }
    }
    auto mine = std::make_shared<entry>();
    const std::lock_guard guard(from.lock_);
    if (from.free_ > 0) {
        --from.free_;
        return;
    }
    from.queue_.push_back(*mine);
    entry_ = std::move(mine);
}

launch_limit::slot::~slot() {
    if (from_ == nullptr) {
        return;
    }
    if (entry_) {
        from_->leave(*entry_);
    } else {
        from_->give_back();
    }
}

event::operation launch_limit::slot::granted() noexcept { return entry_->granted.wait(); }

void launch_limit::leave(entry& mine) noexcept {
    {
        const std::lock_guard guard(lock_);
        if (mine.is_linked()) {
            queue_.erase(mine);
            return;
        }
    }
    give_back();
}

void launch_limit::give_back() noexcept {
    std::shared_ptr<entry> next;
    {
        const std::lock_guard guard(lock_);
        if (entry* first = queue_.front()) {
            queue_.erase(*first);
            next = first->shared_from_this();
        } else {
            ++free_;
        }
    }
    if (next) {
        next->granted.set();
    }
}

std::uint32_t launch_limit::free_now() const noexcept {
    const std::lock_guard guard(lock_);
    return free_;
}

task<> wait_for_room(launch_limit* limit) {
    if (limit == nullptr) {
        co_return;
    }
    launch_limit::slot mine(*limit);
    if (!mine.is_immediate()) {
        co_await mine.granted();
    }
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
