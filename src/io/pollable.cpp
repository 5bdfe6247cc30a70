// Orders U4, U5, U6, U8, U9, U10 and U11: io/detail/pollable.hpp.
//
// U9 survives acquire->relaxed: each use depends on the address that was loaded

#include <roost/io/detail/pollable.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace roost::inline ROOST_ABI::io::detail {

using namespace seam;

bool moved::would_block() const noexcept { return why_ == EAGAIN || why_ == EWOULDBLOCK; }

moved pollable::send_file(int, std::uint64_t, std::size_t) noexcept { return {-1, EOPNOTSUPP}; }

// It counts as a use while it runs: what it interrupts is still open.
void pollable::close() noexcept {
    std::uint32_t seen = uses_.load(mo::relaxed);  // U5
    do {
        if ((seen & closed_bit) != 0) {
            return;
        }
    } while (!uses_.compare_exchange_weak(seen, (seen | closed_bit) + 1, mo::relaxed, mo::relaxed));  // U5
    if (seen != owned_bit) {
        in_.close();
        out_.close();
        interrupt();  // last: what it ends has to find that this is the reason
    }
    leave();
}

void pollable::leave_last() noexcept {
    shut();
    if ((uses_.fetch_sub(1, mo::acq_rel) & owned_bit) == 0) {  // U4
        released();
    }
}

void pollable::drop() noexcept {
    if (uses_.fetch_and(~owned_bit, mo::acq_rel) == (closed_bit | owned_bit)) {  // U6
        released();
    }
}

void pollable::open(bool is_ready) noexcept {
    in_.open(is_ready);
    out_.open(is_ready);
    uses_.store(owned_bit, mo::relaxed);  // U8
}

pollable::both_limits& pollable::limits() {
    both_limits* all = limits_.load(mo::acquire);  // U9
    if (all == nullptr) {
        auto fresh = std::make_unique<both_limits>(*this);
        if (limits_.compare_exchange_strong(all, fresh.get(), mo::release, mo::acquire)) {  // U10 U9
            all = fresh.release();
        }
    }
    return *all;
}

void pollable::end_limits() noexcept {
    if (both_limits* all = limits_.load(mo::relaxed)) {  // U11
        all->at(direction::in).end();
        all->at(direction::out).end();
    }
}

void pollable::drop_limits() noexcept {
    delete limits_.load(mo::relaxed);  // U11
    limits_.store(nullptr, mo::relaxed);  // U11
}

void pollable::pause() noexcept {
    try {
        limits().at(direction::in).pause();
    } catch (...) {  // no memory: the next wait ends with the next event
    }
}

bool pollable::take_pause() noexcept {
    both_limits* const all = limits_.load(mo::acquire);  // U9
    return all != nullptr && all->at(direction::in).take_pause();
}

void pollable::sit_out_pause(time_point deadline) noexcept {
    if (take_pause()) {
        atomic<std::uint32_t> unchanged{0};
        static_cast<void>(wait_on_until(unchanged, 0, std::min(deadline, now() + wait_limit::pause_length)));
    }
}

void pollable::set_limit(direction d, duration longest) { limits().at(d).set(longest); }

}  // namespace roost::inline ROOST_ABI::io::detail
