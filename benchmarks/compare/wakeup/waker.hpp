// What all designs of the comparison share: how somebody is woken, and the vocabulary of their operations.
//
//   wait_unless(node, waker, condition)   true: the condition holds, nothing is registered; false: registered
//   wake_one()                              wakes the first waiter; whether there was one
//   wake_all()                              wakes who is registered now; how many
//   cancel(node)                            true: removed, it will not be woken; false: a wake was already claimed for it,
//                                           its waker will be called, and the caller passes the wake on
//
// A node must stay where it is until it was woken or cancel() returned true. The caller's change of the condition must be a
// seq_cst read-modify-write before the wake: then "look, then sleep" and "change, then look for sleepers" cannot miss
// each other, and waking an empty queue costs loads only.
#pragma once

#include <cstddef>

namespace wakeup {

struct waker {
    void (*call)(void*) noexcept = nullptr;
    void* target = nullptr;
    void operator()() const noexcept { call(target); }
};

} // namespace wakeup
