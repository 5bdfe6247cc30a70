#pragma once

// Raises a node from within a callback that a raise of another node runs.
//
// A cancelled shield cancels its inside, which calls the next shield, and so on: each raise would stand on the stack of the
// one before. So such raises take turns. The outermost one of a thread carries out all that come meanwhile, one after the
// other, before it returns. A chain of any length takes constant stack, and all of it is reached when the first raise
// returns.
//
// Several bodies may close one scope, so a turn may be requested again while it waits. On the thread that has taken it, that
// changes nothing: the raise has happened, or happens further up the same stack. Another thread cannot wait for it, and
// raises the node at once.
//
// word     0, then for good thread_index() + 1 of the thread that takes the turn. A number is used again when its thread has ended;
//          then the raise has happened.
// fields   of_, to_, why_, next_: the thread that has taken the turn
//
// id  operation   order    pairs  carries                                          fails in
// T1  raise: CAS  relaxed  -      nothing: one word decides which thread takes it  raise_turn_model: TREE_132_two_causes

#include <roost/tree/detail/node.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class raise_turn {
public:
    raise_turn() noexcept = default;
    raise_turn(const raise_turn&) = delete;
    raise_turn& operator=(const raise_turn&) = delete;

    // Raises `of`. A turn lives as long as its node, and is for one node and one level. May return before the raise has happened,
    // if a raise in turn is under way further up this stack.
    void raise(node& of, level to, reason why) noexcept;

private:
    atomic<std::uint32_t> taken_by_{0};
    plain<level> to_{level::cancel};
    plain<node*> of_{nullptr};
    reason why_;
    plain<raise_turn*> next_{nullptr};
};

}  // namespace roost::inline ROOST_ABI::detail
