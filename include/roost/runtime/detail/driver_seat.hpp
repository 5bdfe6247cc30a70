#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/driver.hpp>
#include <roost/io/epoll_driver.hpp>

#include <memory>
#include <system_error>

// The driver of an executor, and the seat of the one thread that is in it. The driver is the one that was given, or an
// epoll_driver that is made when the first descriptor needs it.
//
// id  operation                  order    pairs  carries                                              fails in
// V1  driver: load               seq_cst  V2     the driver                                           (not weakened: it is made once)
// V2  make: store                seq_cst  V1     as V1                                                (not weakened: it is made once)
// V3  try_take: exchange         acquire  V4     what the last thread left in the driver              driver_seat_model: one_at_a_time
// V4  give_back: store           release  V3     as V3                                                driver_seat_model: one_at_a_time
// V5  is_free: load              relaxed  -      a guess for V3                                       (floor)
// V6  reactor: load, store       seq_cst  V6     the reactor                                          (not weakened: it is made once)
//
// V1 survives seq_cst->acquire: the explorer does not see into the driver that is made

namespace roost::inline ROOST_ABI::detail {

class driver_seat {
public:
    explicit driver_seat(ext::driver* given = nullptr) noexcept : driver_(given) {}
    ~driver_seat();

    // Returns null while there is none.
    [[nodiscard]] ext::driver* driver() const noexcept { return driver_.load(mo::seq_cst); }  // V1

    [[nodiscard]] bool try_take() noexcept { return is_free() && !taken_.exchange(true, mo::acquire); }  // V3
    void give_back() noexcept { taken_.store(false, mo::release); }  // V4
    [[nodiscard]] bool is_free() const noexcept { return !taken_.load(mo::relaxed); }  // V5

    class made {
    public:
        made(ext::reactor* r, bool is_new) noexcept : reactor_(r), new_(is_new) {}
        [[nodiscard]] ext::reactor* reactor() const noexcept { return reactor_; }
        // Returns true if this call made the driver. The executor then wakes a thread, which takes the seat.
        [[nodiscard]] bool is_new() const noexcept { return new_; }

    private:
        ext::reactor* reactor_;
        bool new_;
    };
    // Returns null while there is none.
    [[nodiscard]] ext::reactor* reactor() const noexcept { return reactor_.load(mo::seq_cst); }  // V6
    // Makes the driver if there is none. The reactor is null, with the reason in `why`, if that fails. Thread-safe.
    [[nodiscard]] made make_reactor(std::error_code& why) noexcept;
    // Called when the last thread has given the seat back for good.
    void close() noexcept;

private:
    atomic<ext::driver*> driver_;
    atomic<bool> taken_{false};
    atomic<ext::reactor*> reactor_{nullptr};
    small_mutex lock_;
    std::unique_ptr<io::epoll_driver> own_;
};

}  // namespace roost::inline ROOST_ABI::detail
