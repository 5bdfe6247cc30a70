#include <roost/shutdown/detail/wait_slot.hpp>

#include <roost/base/assert.hpp>

#include <climits>

// 1. Why it is not simpler. An awaiter may only be cancelled while its coroutine is suspended in it. Before await_suspend it
//    is too early. After it, another thread may have resumed the coroutine, finished it and freed the slot, so there seems to
//    be no moment at which the suspending thread can commit. There is one: the resumed body first waits, in disarm(), until
//    that thread has committed. If the body was resumed on the suspending thread's own stack there is nothing to wait for, and
//    a flag tells that thread not to touch the slot.
//
// 3. States   idle (0)      nothing to cancel, or the suspending thread has not committed yet
//             armed (1)     suspended; the operation may be cancelled
//             busy (2)      a thread is inside try_cancel
//             + cancelled (4): sticky    + awaited (8): disarm() is blocked
//
// 4. idle --commit--> armed --disarm--> idle
//    idle|cancelled --commit--> busy --try_cancel true--> idle        armed --cancel--> busy, and so on
//                                    --try_cancel false--> armed (the wake that won leads to disarm)
//
// 5. Field access   operation_, try_cancel_: the body until commit; then the thread that set busy
//                   suspending_: the body, on either side of the resume
//
// 7. Ordering table
// id  operation             order            pairs     carries                                       fails in
// A1  commit: CAS           release/acquire  A2 A3     out: operation_; in: the canceller's writes   wait_slot_model: cancel_at_commit
// A2  cancel: CAS           release/acquire  A1 A5     in: operation_; out: why it was cancelled     wait_slot_model: cancel_at_commit
// A3  disarm: CAS           acquire/relaxed  A4        in: try_cancel has left                       wait_slot_model: disarm_waits_for_canceller
// A4  finish: exchange      release          A3        out: try_cancel has left                      wait_slot_model: disarm_waits_for_canceller
// A5  is_cancelled: load    acquire          A2        why it was cancelled                          wait_slot_model: cancel_at_commit
// A6  disarm: CAS awaited   relaxed          -         only asks for a wake; A3 looks again          (floor)

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr std::uint32_t armed = 1;
constexpr std::uint32_t busy = 2;
constexpr std::uint32_t cancelled_bit = 4;
constexpr std::uint32_t awaited_bit = 8;
constexpr std::uint32_t phase = 3;
#if defined(ROOST_SEAM_MODEL)
constexpr int spins = 0;  // spinning only hides the blocking from the search
#else
constexpr int spins = 128;
#endif

// Leaves try_cancel. After a try_cancel that lost, the resumed body may free the slot at once.
void finish(atomic<std::uint32_t>& state, bool claimed) noexcept {
    const atomic<std::uint32_t>* address = &state;
    if ((state.exchange(cancelled_bit | (claimed ? 0 : armed), mo::release) & awaited_bit) != 0) {  // A4
        wake_on(address, INT_MAX);
    }
}
}  // namespace

wait_slot::suspension::suspension(wait_slot& slot, void* operation, cancel_function try_cancel) noexcept
    : slot_(slot), thread_(thread_index()) {
    slot.operation_.set(operation);
    slot.try_cancel_.set(try_cancel);
    slot.suspending_ = this;
}

bool wait_slot::suspension::commit() noexcept {
    if (resumed_inside_) {
        return false;
    }
    std::uint32_t seen = 0;
    for (;;) {
        ROOST_ASSERT((seen & phase) == 0, "a body can be suspended in one operation at a time");
        const std::uint32_t next = (seen & cancelled_bit) != 0 ? cancelled_bit | busy : armed;
        const std::uint32_t awaited = seen & awaited_bit;
        const atomic<std::uint32_t>* address = &slot_.state_;
        if (slot_.state_.compare_exchange_weak(seen, next, mo::release, mo::acquire)) {  // A1
            if (next == armed) {
                if (awaited != 0) {
                    wake_on(address, INT_MAX);
                }
                return false;
            }
            const bool claimed = slot_.try_cancel_.get()(slot_.operation_.get());
            finish(slot_.state_, claimed);
            if (awaited != 0) {
                wake_on(address, INT_MAX);
            }
            return claimed;
        }
    }
}

bool wait_slot::cancel() noexcept {
    std::uint32_t seen = 0;
    for (;;) {
        const std::uint32_t next = (seen & phase) == armed ? cancelled_bit | busy : seen | cancelled_bit;
        if ((seen & cancelled_bit) != 0 && (seen & phase) != armed) {
            return false;
        }
        if (state_.compare_exchange_weak(seen, next, mo::release, mo::acquire)) {  // A2
            break;
        }
    }
    if ((seen & phase) != armed) {
        return false;
    }
    const bool claimed = try_cancel_.get()(operation_.get());
    finish(state_, claimed);
    return claimed;
}

void wait_slot::disarm() noexcept {
    std::uint32_t seen = armed;
    int spun = 0;
    while (!state_.compare_exchange_weak(seen, seen & cancelled_bit, mo::acquire, mo::relaxed)) {  // A3
        if ((seen & phase) == armed) {
            continue;
        }
        if ((seen & phase) == 0 && suspending_->thread_ == thread_index()) {
            suspending_->resumed_inside_ = true;
            return;
        }
        if (++spun < spins) {
            spin_hint();
        } else if ((seen & awaited_bit) != 0 ||
                   state_.compare_exchange_strong(seen, seen | awaited_bit, mo::relaxed, mo::relaxed)) {  // A6
            wait_on(state_, seen | awaited_bit);
        }
        seen = armed;
    }
}

bool wait_slot::is_cancelled() const noexcept { return (state_.load(mo::acquire) & cancelled_bit) != 0; }  // A5

}  // namespace roost::inline ROOST_ABI::detail
