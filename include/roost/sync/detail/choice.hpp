#pragma once

// One decision for several waits: the base of select. Each alternative is an ordinary waiter in the list of its primitive. A
// waker, under that list's lock, has to win the choice for the alternative before it hands anything over. So exactly one
// alternative takes effect, and the others have none.
//
// Why it is not simpler: when two selects meet at a channel, one as the sender and the other as the receiver, both choices
// have to be won or neither. The running select holds its own choice for a moment while it tries to win the other.
//
// word     0 open      1 held: its owner is trying to win another choice with it      else: the address of the winner
//
//   open --win--> won                                          from any thread
//   open --hold--> held --pair--> won | open                   only by its owner
//
// fields   none
// I1       won is final
// I2       only the owner holds, and while it holds it takes no lock and waits only for choices at higher addresses: so
//          a thread that finds a choice held waits for a thread that is running
//
// id  operation        order            pairs    carries                                                fails in
// H1  win: CAS         acq_rel/relaxed  H1 H3    out: what the winner did before; nothing else: the     select_model: two_wakers
//                                                lists' locks order the waits themselves
// H2  hold: CAS        acquire/relaxed  H1       nothing but the decision                               select_model: two_selects_meet
// H3  pair: store      release          H1 H4    as H1                                                  select_model: two_selects_meet
// H4  is_won: load     acquire          H1 H3    in: what the winner did before                         select_model: two_wakers
// H5  guess: load      relaxed          -        nothing: H1 or H2 decides                              (floor)
// H1 survives acq_rel->release: an open choice holds nothing to take over; the lock of the list led to it
// H1 survives acq_rel->acquire: all is handed over after the win, by the lock of the list and the post
// H4 survives acquire->relaxed: a thread that finds it won leaves it alone or takes the list's lock; the post resumes the select

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class choice {
public:
    enum class pair : std::uint8_t { both_won, mine_is_lost, other_is_lost };

    constexpr choice() noexcept = default;
    choice(const choice&) = delete;
    choice& operator=(const choice&) = delete;

    // Returns true if it wins the choice for `who`, false if it was won before. Thread-safe.
    [[nodiscard]] bool try_win(const void* who) noexcept {
        std::uintptr_t seen = open;
        while (!word_.compare_exchange_weak(seen, word_of(who), mo::acq_rel, mo::relaxed)) {  // H1
            if (seen > held) {
                return false;
            }
            if (seen == held) {
                wait_while_held();
            }
            seen = open;
        }
        return true;
    }
    // Wins both or neither. Called by the owner of `mine`.
    [[nodiscard]] static pair try_win_both(choice& mine, const void* my_winner, choice& other,
                                           const void* other_winner) noexcept;

    [[nodiscard]] bool is_won() const noexcept { return word_.load(mo::acquire) > held; }  // H4
    [[nodiscard]] const void* winner() const noexcept {
        const std::uintptr_t seen = word_.load(mo::acquire);  // H4
        return seen > held ? reinterpret_cast<const void*>(seen) : nullptr;
    }

private:
    static constexpr std::uintptr_t open = 0;
    static constexpr std::uintptr_t held = 1;
    static std::uintptr_t word_of(const void* who) noexcept { return reinterpret_cast<std::uintptr_t>(who); }
    void wait_while_held() const noexcept;

    atomic<std::uintptr_t> word_{open};
};

}  // namespace roost::inline ROOST_ABI::detail
