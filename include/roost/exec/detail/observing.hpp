#pragma once

// Whether anything looks at hot places: one byte for the flight recorder and for the tracking of owners, so that such a place
// tests once. What it calls then asks each of them.
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

    // Returns true if a place has something to report. This load is the only cost while it has not.
    [[nodiscard]] static bool any() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return false;  // one scheduling point less in every model
#else
        return bits.load(mo::relaxed) != 0;  // B1
#endif
    }
    static void set(by who, bool on) noexcept {
        const auto bit = static_cast<std::uint8_t>(who);
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
