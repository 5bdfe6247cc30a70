// Order T1: tree/detail/raise_turn.hpp.

#include <roost/tree/detail/raise_turn.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {

// The turns of this thread. `last` is null if nothing is raised in turn here.
struct turns {
    raise_turn* last = nullptr;
};
turns& of_this_thread() noexcept {
    struct tag;
    return thread_value<tag, turns>::get();
}

}  // namespace

void raise_turn::raise(node& of, level to, reason why) noexcept {
    const std::uint32_t me = thread_index() + 1;
    std::uint32_t taken_by = 0;
    if (!taken_by_.compare_exchange_strong(taken_by, me, mo::relaxed, mo::relaxed)) {  // T1
        if (taken_by != me) {
            of.raise(to, std::move(why));
        }
        return;
    }
    of.retain();
    of_.set(&of);
    to_.set(to);
    why_ = std::move(why);
    turns& here = of_this_thread();
    raise_turn* const before = std::exchange(here.last, this);
    if (before != nullptr) {
        before->next_.set(this);
        return;
    }
    for (raise_turn* mine = this; mine != nullptr;) {
        node& next = *mine->of_.get();
        next.raise(mine->to_.get(), std::move(mine->why_));
        raise_turn* const after = mine->next_.get();
        if (after == nullptr) {
            here.last = nullptr;
        }
        next.release();
        mine = after;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
