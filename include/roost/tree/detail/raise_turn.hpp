#pragma once

// Raises a node from within a callback that a raise of another node runs.
//
// A shield that is cancelled cancels its inside, where the next shield is told, and so on: each raise would stand on the stack of
// the one before. So such raises take turns. The outermost one of a thread carries out all that come meanwhile, one after the
// other, before it returns: a chain of any length takes constant stack, and all of it is reached when the first raise returns.
//
// id  operation        order    pairs  carries                                             fails in
// T1  used_: exchange  seq_cst  -      that the turn is taken; several may close one scope  (no model: what it guards is repeated)

#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI::detail {

class raise_turn {
public:
    raise_turn() noexcept = default;
    raise_turn(const raise_turn&) = delete;
    raise_turn& operator=(const raise_turn&) = delete;

    // Raises `of`. A turn lives as long as its node. May return before the raise has happened, if a raise in turn is under
    // way further up this stack. A turn is taken once; later calls raise at once.
    void raise(node& of, level to, reason why) noexcept;

private:
    atomic<bool> used_{false};
    level to_ = level::cancel;
    node* of_ = nullptr;
    reason why_;
    raise_turn* next_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
