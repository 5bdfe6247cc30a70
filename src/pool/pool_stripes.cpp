// Orders S1, T1, T2: pool/detail/pool_stripes.hpp.

#include <roost/pool/detail/pool_stripes.hpp>

#include <roost/pool/options.hpp>

#include <algorithm>
#include <new>

namespace roost::inline ROOST_ABI::detail {

pool_stripes::pool_stripes(node& owner, bool counts, const pool_options& options)
    : owner_(owner),
      count_(options.stripes),
      mask_((count_ & (count_ - 1)) == 0 ? count_ - 1 : 0),
      unit_(counts ? stripe_state::counted_bit : 0),
      total_slots_(options.room) {
    void* memory = allocate(sizeof(pool_stripe) * count_, alignof(pool_stripe));
    stripes_ = static_cast<pool_stripe*>(memory);
    for (unsigned i = 0; i < count_; ++i) {
        pool_stripe* s = ::new (static_cast<void*>(stripes_ + i)) pool_stripe;
        s->number = i;
        s->slot_count = share_of(options.room, i);
        s->word.store(stripe_state::make(s->slot_count, share_of(options.capacity, i)).bits, mo::relaxed);  // T1
    }
}

pool_stripes::~pool_stripes() {
    for (pool_stripe& s : *this) {
        s.~pool_stripe();
    }
    deallocate(stripes_, sizeof(pool_stripe) * count_, alignof(pool_stripe));
}

void pool_stripes::bind(unsigned index, slot_base& s) noexcept {
    pool_stripe& home = stripes_[index % count_];
    s.home = &home;
    s.number = index / count_;
    home.slots[s.number] = &s;
}

// --- units of work -----------------------------------------------------------------------------------------------------------

bool pool_stripes::enter_or_note() noexcept {
    const bool entered = owner_.try_enter();
    if (!entered) {
        is_above_closed_.store(true, mo::relaxed);  // S1
    }
    return entered;
}

void pool_stripes::give_unit_back(unsigned* units) noexcept {
    if (units != nullptr) {
        ++*units;
    } else {
        owner_.leave();
    }
}

// --- taking ------------------------------------------------------------------------------------------------------------------

template <auto Transition>
inline slot_base* pool_stripes::commit_from(pool_stripe& from, bool past_queue, unsigned* units) noexcept {
    stripe_state::word seen = from.word.load(mo::relaxed);  // T1
    bool entered = false;
    for (;;) {
        const stripe_step step = Transition(stripe_state(seen), entered, past_queue);
        if (step.is_refused()) {
            break;
        }
        if (unit_ != 0 && !entered && (seen & stripe_state::counted_bit) == 0) {
            if (!enter_or_note()) {
                return nullptr;
            }
            entered = true;
            continue;
        }
        from.expect_valid(step.next);
        if (from.word.compare_exchange_weak(seen, step.next.bits, mo::acq_rel, mo::relaxed)) {  // T2
            if (entered && (seen & stripe_state::counted_bit) != 0) {
                give_unit_back(units);
            }
            return from.slots[step.slot];
        }
    }
    if (entered) {
        give_unit_back(units);
    }
    return nullptr;
}

slot_base* pool_stripes::take_from(pool_stripe& from, bool past_queue, unsigned* units) noexcept {
    return commit_from<&stripe::take>(from, past_queue, units);
}

slot_base* pool_stripes::try_take_slow(pool_stripe& mine) noexcept {
    slot_base* got = commit_from<&stripe::take>(mine, false, nullptr);
    return got != nullptr || count_ == 1 ? got : take_elsewhere(mine, false, nullptr);
}

slot_base* pool_stripes::take_elsewhere(pool_stripe& mine, bool past_queue, unsigned* units) noexcept {
    for (unsigned i = 1; i < count_; ++i) {
        if (slot_base* s = take_from(stripes_[(mine.number + i) % count_], past_queue, units)) {
            return s;
        }
    }
    return nullptr;
}

slot_base* pool_stripes::take_anywhere(bool past_queue, unsigned* units) noexcept {
    pool_stripe& mine = home();
    slot_base* s = take_from(mine, past_queue, units);
    return s != nullptr ? s : take_elsewhere(mine, past_queue, units);
}

slot_base* pool_stripes::reserve_anywhere(bool past_queue, unsigned* units) noexcept {
    const unsigned first = home().number;
    for (unsigned i = 0; i < count_; ++i) {
        if (slot_base* s = commit_from<&stripe::reserve>(stripes_[(first + i) % count_], past_queue, units)) {
            return s;
        }
    }
    return nullptr;
}

bool pool_stripes::try_recreate(slot_base& s, unsigned& units) noexcept {
    const bool counts = unit_ != 0;
    if (counts && !enter_or_note()) {
        return false;
    }
    bool was_counted = false;
    const stripe_step step = s.home->commit([&](stripe_state x) {
        was_counted = x.is_counted();
        return stripe::recreate(x, s.number, counts);
    });
    units += counts && (was_counted || step.is_refused()) ? 1 : 0;
    return !step.is_refused();
}

void pool_stripes::mark_waited(bool waited) noexcept {
    for (pool_stripe& s : *this) {
        s.commit([=](stripe_state x) { return stripe::wait(x, waited); });
    }
}

// --- facts -------------------------------------------------------------------------------------------------------------------

bool pool_stripes::has_idle() const noexcept {
    return std::any_of(begin(), end(), [](const pool_stripe& s) { return s.look().idle() != 0; });
}

bool pool_stripes::has_free() const noexcept {
    return std::any_of(begin(), end(), [](const pool_stripe& s) { return s.look().free() != 0; });
}

bool pool_stripes::has_live() const noexcept {
    return std::any_of(begin(), end(), [](const pool_stripe& s) { return s.look().live() != 0; });
}

bool pool_stripes::are_drained() const noexcept {
    return std::all_of(begin(), end(), [](const pool_stripe& s) { return s.look().is_drained(); });
}

std::uint32_t pool_stripes::live() const noexcept {
    std::uint32_t all = 0;
    for (const pool_stripe& s : *this) {
        all += s.look().live();
    }
    return all;
}

}  // namespace roost::inline ROOST_ABI::detail
