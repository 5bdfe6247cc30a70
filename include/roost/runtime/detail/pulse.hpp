#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/activity.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// Shows a watcher whether a worker is still in the same body. Costs the worker one plain store per body.
//
// id  operation          order    pairs  carries                                       fails in
// U1  beat, rest: store  relaxed  U2     nothing: only compared with its own old value (floor)
// U2  read: load         relaxed  U1     nothing                                       (floor)
class pulse {
public:
    void begin_body() noexcept { beat_.store(count_ += 2, mo::relaxed); }      // U1
    void rest() noexcept { beat_.store(count_ - 1, mo::relaxed); }             // U1
    [[nodiscard]] std::uint64_t read() const noexcept { return beat_.load(mo::relaxed); }  // U2
    [[nodiscard]] static bool is_in_body(std::uint64_t beat) noexcept { return beat != 0 && beat % 2 == 0; }
    [[nodiscard]] std::uint64_t bodies() const noexcept { return count_ / 2; }  // owner only

    // Sets the activity of the worker's thread. It belongs to the thread: the worker sets null before its thread ends.
    void set_label(activity* a) noexcept {
        lock_.lock();
        label_ = a;
        lock_.unlock();
    }
    // As activity::look(). Returns false before the worker has begun and after it has ended. `see` must be short.
    template <class See>
    bool look(See see) noexcept {
        lock_.lock();
        const bool seen = label_ != nullptr && label_->look(see);
        lock_.unlock();
        return seen;
    }

private:
    std::uint64_t count_ = 0;
    atomic<std::uint64_t> beat_{0};
    small_mutex lock_;
    activity* label_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
