#include <roost/task/limited_scope.hpp>

#include <mutex>

namespace roost::inline ROOST_ABI::detail {

void refuse_no_places(site where) {
    panic("with_limited_scope", {}, where, "a limit of zero would never run a child; pass at least one");
}

// I1       somebody is in line only while no place is free
// A turn that is no longer in line has the place: whoever took it out handed the place over.

place_queue::place::place(place_queue& from) : from_(&from) {
    {
        const std::lock_guard guard(from.lock_);
        if (from.free_ > 0) {
            --from.free_;
            return;
        }
    }
    auto mine = std::make_shared<turn>();
    const std::lock_guard guard(from.lock_);
    if (from.free_ > 0) {
        --from.free_;
        return;
    }
    from.line_.push_back(*mine);
    turn_ = std::move(mine);
}

place_queue::place::~place() {
    if (from_ == nullptr) {
        return;
    }
    if (turn_) {
        from_->leave(*turn_);
    } else {
        from_->give_back();
    }
}

event::operation place_queue::place::come() noexcept { return turn_->come.wait(); }

void place_queue::leave(turn& mine) noexcept {
    {
        const std::lock_guard guard(lock_);
        if (mine.is_linked()) {
            line_.erase(mine);
            return;
        }
    }
    give_back();
}

void place_queue::give_back() noexcept {
    std::shared_ptr<turn> next;
    {
        const std::lock_guard guard(lock_);
        if (turn* first = line_.front()) {
            line_.erase(*first);
            next = first->shared_from_this();
        } else {
            ++free_;
        }
    }
    if (next) {
        next->come.set();
    }
}

std::uint32_t place_queue::free_now() const noexcept {
    const std::lock_guard guard(lock_);
    return free_;
}

}  // namespace roost::inline ROOST_ABI::detail
