#include <roost/tree/detail/raise_turn.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {

// The turns of this thread. `last` is null when nothing is raised in turn here.
struct turns {
    raise_turn* last = nullptr;
};
turns& of_this_thread() noexcept {
    struct tag;
    return thread_value<tag, turns>::get();
}

}  // namespace

void raise_turn::raise(node& of, level to, reason why) noexcept {
    if (used_.exchange(true, mo::seq_cst)) {  // T1
        of.raise(to, std::move(why));
        return;
    }
    turns& here = of_this_thread();
    of.retain();
    of_ = &of;
    to_ = to;
    why_ = std::move(why);
    raise_turn* const before = std::exchange(here.last, this);
    if (before != nullptr) {
        before->next_ = this;
        return;
    }
    for (raise_turn* mine = this; mine != nullptr;) {
        node& next = *mine->of_;
        next.raise(mine->to_, std::move(mine->why_));
        raise_turn* const after = mine->next_;
        if (after == nullptr) {
            here.last = nullptr;
        }
        next.release();
        mine = after;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
