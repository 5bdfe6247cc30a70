// Taking an idle resource, or the right to create, from a stripe. See pool_core.hpp.

#include <roost/pool/detail/pool_core.hpp>

namespace roost::inline ROOST_ABI::detail {

bool pool_core::enter_or_note() noexcept {
    const bool entered = try_enter();
    if (!entered) {
        is_above_closed_.store(true, mo::relaxed);  // T7
    }
    return entered;
}

void pool_core::give_unit_back(pool_effects* fx) noexcept {
    if (fx != nullptr) {
        ++fx->units;
    } else {
        leave();
    }
}

template <auto Transition>
slot_base* pool_core::commit_from(pool_stripe& from, bool past_queue, pool_effects* fx) noexcept {
    stripe_state::word seen = from.word.load(mo::relaxed);  // T1
    bool entered = false;
    for (;;) {
        const stripe_step step = Transition(stripe_state(seen), entered, past_queue);
        if (step.is_refused()) {
            break;
        }
        if (counts_ && !entered && (seen & stripe_state::counted_bit) == 0) {
            if (!enter_or_note()) {
                return nullptr;
            }
            entered = true;
            continue;
        }
        from.expect_valid(step.next);
        if (from.word.compare_exchange_weak(seen, step.next.bits, mo::acq_rel, mo::relaxed)) {  // T2
            if (entered && (seen & stripe_state::counted_bit) != 0) {
                give_unit_back(fx);
            }
            return from.slots[step.slot];
        }
    }
    if (entered) {
        give_unit_back(fx);
    }
    return nullptr;
}

slot_base* pool_core::take_from(pool_stripe& from, bool past_queue, pool_effects* fx) noexcept {
    return commit_from<&stripe::take>(from, past_queue, fx);
}

slot_base* pool_core::try_take_slow(pool_stripe& mine) noexcept {
    slot_base* got = take_from(mine, false, nullptr);
    return got != nullptr || stripe_count_ == 1 ? got : take_elsewhere(mine, false, nullptr);
}

slot_base* pool_core::take_elsewhere(pool_stripe& mine, bool past_queue, pool_effects* fx) noexcept {
    for (unsigned i = 1; i < stripe_count_; ++i) {
        if (slot_base* s = take_from(stripes_[(mine.number + i) % stripe_count_], past_queue, fx)) {
            return s;
        }
    }
    return nullptr;
}

slot_base* pool_core::take_anywhere(bool past_queue, pool_effects* fx) noexcept {
    pool_stripe& mine = home();
    slot_base* s = take_from(mine, past_queue, fx);
    return s != nullptr ? s : take_elsewhere(mine, past_queue, fx);
}

slot_base* pool_core::reserve_anywhere(bool past_queue, pool_effects* fx) noexcept {
    const unsigned first = home().number;
    for (unsigned i = 0; i < stripe_count_; ++i) {
        if (slot_base* s = commit_from<&stripe::reserve>(stripes_[(first + i) % stripe_count_], past_queue, fx)) {
            return s;
        }
    }
    return nullptr;
}

slot_base* pool_core::try_reserve() noexcept {
    if (options_.backoff.after != 0) {
        waiters_.lock();
        const bool may = may_create();
        waiters_.unlock();
        if (!may) {
            return nullptr;
        }
    }
    return reserve_anywhere(false, nullptr);
}

bool pool_core::is_suspended(std::exception_ptr& why) noexcept {
    if (options_.backoff.after == 0) {
        return false;
    }
    waiters_.lock();
    bool is_kept_back = false;
    if (!may_create()) {
        for (unsigned i = 0; i < stripe_count_ && !is_kept_back; ++i) {
            is_kept_back = look(stripes_[i]).free() != 0;
        }
        why = last_failure_;
    }
    waiters_.unlock();
    return is_kept_back;
}

gift pool_core::refusal() const noexcept {
    const stripe_state s = look(stripes_[stripe_count_ - 1]);
    if (s.is_closed()) {
        return gift::closed;
    }
    const bool is_refused = s.is_stopped() || is_stopping() || is_above_closed_.load(mo::relaxed);  // T7
    return is_refused ? gift::stopped : gift::nothing;
}

}  // namespace roost::inline ROOST_ABI::detail
