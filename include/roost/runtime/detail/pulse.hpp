#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/activity.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// How a watcher sees from outside that a worker is still inside the same body. One plain store per body.
//
// id  operation          order    pairs  carries                                       fails in
// U1  beat, rest: store  relaxed  U2     nothing: only compared with its own old value (floor)
// U2  read: load         relaxed  U1     nothing                                       (floor)
// U3  set_label: store   release  U4     the thread's activity, constructed            pulse_model: label_visible
// U4  label: load        acquire  U3     the thread's activity, constructed            pulse_model: label_visible
class pulse {
public:
    void begin_body() noexcept { beat_.store(count_ += 2, mo::relaxed); }      // U1
    void rest() noexcept { beat_.store(count_ - 1, mo::relaxed); }             // U1
    [[nodiscard]] std::uint64_t read() const noexcept { return beat_.load(mo::relaxed); }  // U2
    [[nodiscard]] static bool is_in_body(std::uint64_t beat) noexcept { return beat != 0 && beat % 2 == 0; }
    [[nodiscard]] std::uint64_t bodies() const noexcept { return count_ / 2; }  // owner only

    // What the worker's thread says that it is doing; null until it has started.
    void set_label(activity* a) noexcept { label_.store(a, mo::release); }                     // U3
    [[nodiscard]] activity* label() const noexcept { return label_.load(mo::acquire); }       // U4

private:
    std::uint64_t count_ = 0;
    atomic<std::uint64_t> beat_{0};
    atomic<activity*> label_{nullptr};
};

}  // namespace roost::inline ROOST_ABI::detail
