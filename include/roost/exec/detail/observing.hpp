#pragma once

// One switch for two observers: a byte with a bit for the flight recorder and a bit for owner tracking. A hot path tests the
// byte once. If a bit is set, it calls code that tests the switch of each observer.
//
// id  operation          order    pairs  carries                                           fails in
// B1  any: load          relaxed  -      nothing: the observers' own switches decide       (floor)
// B2  set: fetch_or, _and relaxed -      nothing but the switch                            (floor)

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class observing {
public:
    enum class by : std::uint8_t { recorder = 1, owners = 2 };

    // Returns true if an observer is on. While none is, this load is the only cost. Thread-safe.
    [[nodiscard]] static bool any() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return false;  // one scheduling point less in every model
#else
        return bits.load(mo::relaxed) != 0;  // B1
#endif
    }
    // Switches the bit of an observer on or off. Thread-safe.
    static void set(by observer, bool on) noexcept {
        const auto bit = static_cast<std::uint8_t>(observer);
        if (on) {
            bits.fetch_or(bit, mo::relaxed);  // B2
        } else {
            bits.fetch_and(static_cast<std::uint8_t>(~bit), mo::relaxed);  // B2
        }
    }

private:
    static atomic<std::uint8_t> bits;
};

}  // namespace roost::inline ROOST_ABI::detail
