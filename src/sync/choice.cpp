// Orders H1 to H5: sync/detail/choice.hpp.

#include <roost/sync/detail/choice.hpp>

#include <roost/sync/detail/wait_list.hpp>

#include <functional>

// The table is in choice.hpp. The word carries nothing but the decision: the lock of the list and the post hand over the rest.
// H1 survives acq_rel->release: an open choice holds nothing to take over; the lock of the list led to it
// H1 survives acq_rel->acquire: all is handed over after the win, by the lock of the list and the post
// H2 survives acquire->relaxed: only the owner holds it, and reads nothing that another thread wrote before it
// H3 survives release->relaxed: as H1

namespace roost::inline ROOST_ABI::detail {

namespace {
constexpr int spins_before_yield = 64;
}

void choice::wait_while_held() const noexcept {
    for (int spin = 0; word_.load(mo::relaxed) == held; ++spin) {  // H5
        spin < spins_before_yield ? spin_hint() : yield_thread();
    }
}

choice::pair choice::try_win_both(choice& mine, const void* my_winner, choice& other, const void* other_winner) noexcept {
    for (;;) {
        std::uintptr_t seen = open;
        if (!mine.word_.compare_exchange_strong(seen, held, mo::acquire, mo::relaxed)) {  // H2
            return pair::mine_is_lost;
        }
        for (;;) {
            seen = open;
            if (other.word_.compare_exchange_strong(seen, word_of(other_winner), mo::acq_rel, mo::relaxed)) {  // H1
                mine.word_.store(word_of(my_winner), mo::release);  // H3
                return pair::both_won;
            }
            if (seen > held) {
                mine.word_.store(open, mo::release);  // H3
                return pair::other_is_lost;
            }
            if (std::less<>()(&other, &mine)) {
                break;
            }
            other.wait_while_held();  // I2
        }
        mine.word_.store(open, mo::release);  // H3
        other.wait_while_held();
    }
}

// Called under the lock. Unlinks alternatives that were decided elsewhere on the way.
wait_list::picked wait_list::pick_slow(waiter* active) noexcept {
    const bool is_choosing = active != nullptr && active->is_alternative();
    if (head_.get() == nullptr) {
        has_alternatives_ = false;
    }
    for (waiter* w = head_.get(); w != nullptr;) {
        waiter* const next = next_of(*w);
        if (!w->is_alternative()) {
            const bool won = !is_choosing || active->of_choice().try_win(active);
            return won ? picked(w, false) : picked(nullptr, true);
        }
        choice::pair how = choice::pair::both_won;
        if (!is_choosing) {
            how = w->of_choice().try_win(w) ? choice::pair::both_won : choice::pair::other_is_lost;
        } else if (&w->of_choice() == &active->of_choice()) {
            w = next;  // a select does not serve itself
            continue;
        } else {
            how = choice::try_win_both(active->of_choice(), active, w->of_choice(), w);
        }
        if (how == choice::pair::both_won) {
            return picked(w, false);
        }
        if (how == choice::pair::mine_is_lost) {
            return picked(nullptr, true);
        }
        drop(*w);
        w = next;
    }
    return picked(nullptr, false);
}

void wait_list::settle_alternatives() noexcept {
    has_alternatives_ = false;
    for (waiter* w = head_.get(); w != nullptr;) {
        waiter* const next = next_of(*w);
        if (w->is_alternative() && !w->of_choice().try_win(w)) {
            drop(*w);
        }
        w = next;
    }
}

}  // namespace roost::inline ROOST_ABI::detail
