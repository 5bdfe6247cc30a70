#include <roost/task/detail/region.hpp>

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr int spins_before_yield = 64;
}

// With busy set by the caller. After a lost try_cancel the woken body may free everything at once.
bool region::claim_wait(cancellable& what) noexcept {
    const bool claimed = what.try_cancel_(what);
    slot_.store(cancelled_bit | (claimed ? 0 : word_of(what)), mo::release);  // S4
    return claimed;
}

bool region::commit_cancelled(cancellable& what) noexcept {
    std::uintptr_t expected = cancelled_bit;
    if (!slot_.compare_exchange_strong(expected, word_of(what) | cancelled_bit | busy_bit, mo::acq_rel,
                                       mo::acquire)) {  // S1
        panic("I1: a body can be suspended in one operation at a time");
    }
    return claim_wait(what);
}

void region::disarm_slow(cancellable& what) noexcept {
    for (int spin = 0;; ++spin) {
        const std::uintptr_t seen = slot_.load(mo::acquire);  // S5
        if ((seen & ~cancelled_bit) == word_of(what)) {
            std::uintptr_t expected = seen;
            if (slot_.compare_exchange_strong(expected, seen & cancelled_bit, mo::acq_rel, mo::acquire)) {  // S3
                return;
            }
            continue;
        }
        spin < spins_before_yield ? spin_hint() : yield_thread();
    }
}

void region::interrupt() noexcept {
    std::uintptr_t seen = slot_.load(mo::acquire);  // S5
    do {
        if ((seen & busy_bit) != 0 || seen == cancelled_bit) {
            return;
        }
    } while (!slot_.compare_exchange_weak(seen, seen <= cancelled_bit ? cancelled_bit : seen | cancelled_bit | busy_bit,
                                          mo::acq_rel, mo::acquire));  // S2
    if (seen <= cancelled_bit) {
        return;
    }
    cancellable& waiting = *reinterpret_cast<cancellable*>(seen & ~(cancelled_bit | busy_bit));
    body& owner = *owner_;
    promise_base& frame = waiting.frame();
    if (claim_wait(waiting)) {
        owner.post_unwind(frame);
    }
}

void region::level_raised(node& self, level now) noexcept {
    if (now >= level::cancel) {
        static_cast<region&>(self).interrupt();
    }
}

void body::post(work::run_function function, void* argument) noexcept {
    set_run(function);
    argument_ = argument;
    post_or_fall_back(where_, *this, "a job's body");
}

void body::post_start(promise_base& frame) noexcept { post(run_start, &frame); }

void body::post_unwind(promise_base& frame) noexcept { post(run_unwind, &frame); }

void body::post_then(continuation& then) noexcept { post(run_then, &then); }

void body::run_start(work& self) noexcept {
    body& mine = static_cast<body&>(self);
    mine.run(*static_cast<promise_base*>(mine.argument_));
}

void body::run_unwind(work& self) noexcept {
    body& mine = static_cast<body&>(self);
    promise_base& frame = *static_cast<promise_base*>(mine.argument_);
    runner::of_this_thread().why = frame.where().why();
    mine.run(next_step::unwind(frame));
}

void body::run_then(work& self) noexcept {
    body& mine = static_cast<body&>(self);
    mine.run(static_cast<continuation*>(mine.argument_)->go_on());
}

}  // namespace roost::inline ROOST_ABI::detail
