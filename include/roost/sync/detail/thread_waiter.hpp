#pragma once

// A blocked thread as a waiter, in the same lists as coroutines.

#include <roost/sync/detail/parker.hpp>
#include <roost/sync/waiter.hpp>

namespace roost::inline ROOST_ABI::detail {

template <class Parker, class Node = waiter>
class basic_thread_waiter : public Node {
public:
    template <class... Args>
    explicit basic_thread_waiter(Args... args) noexcept
        : Node(
              waiter::thread_tag{}, +[](work& w) noexcept { static_cast<basic_thread_waiter&>(w).parker_.unpark(); },
              args...) {}
    basic_thread_waiter(basic_thread_waiter&&) = delete;

    // Blocks until delivered, and returns the claim. At the deadline `give_up()` tries to claim the wait as expired. If it
    // loses, this blocks until the wake arrives, because the waker still uses this waiter.
    template <class GiveUp>
    [[nodiscard]] claim block_for_claim(time_point deadline, GiveUp give_up) noexcept {
        if (!parker_.park(deadline) && !give_up()) {
            parker_.park();
        }
        return this->finish();
    }
    // As above. Returns false if the deadline passed.
    template <class GiveUp>
    [[nodiscard]] bool block(time_point deadline, GiveUp give_up) noexcept {
        return block_for_claim(deadline, give_up) != claim::expired;
    }

    enum class woken : unsigned char {
        served,  // it is not in the list any more
        notified,  // it may take what it waits for
        expired,
    };
    // For a waiter in `list` that can be notified, and overtaken until it runs. Blocks until it was served or notified, or the
    // deadline passed. Returns with the list unlocked if it was served, else locked.
    template <class List>
    [[nodiscard]] woken sleep_in(List& list, time_point deadline) noexcept {
        const bool has_token = parker_.park(deadline);
        list.lock();
        const bool is_served = !list.contains(*this);
        if (!has_token && (is_served || this->is_notified)) {
            list.unlock();
            parker_.park();  // another thread holds this waiter and is about to unpark it
            list.lock();
        }
        this->is_notified = false;
        if (is_served || !list.contains(*this)) {
            list.unlock();
            return woken::served;
        }
        return has_token ? woken::notified : woken::expired;
    }

private:
    Parker parker_;
};

using thread_waiter = basic_thread_waiter<parker>;

}  // namespace roost::inline ROOST_ABI::detail
