#pragma once

// Blocks the calling thread until another thread hands it a token. Only the owner parks; any thread may unpark. At most one
// token is stored. The parker may be destroyed once its token is consumed: unpark() touches nothing after that.
//
// Two back ends with one contract: futex (the default) and portable, made of the operating system's mutex and condition
// variable (define ROOST_PORTABLE_PARKER to use it everywhere; sync_portable_test does).
//
// word     0 empty   1 asleep (the owner blocks or is about to)   2 token
//
//   empty --unpark--> token --park--> empty                       fast path: no system call
//   empty --park--> asleep --unpark--> token --park--> empty      effect of unpark: wake
//   asleep --deadline--> empty
//
// id  operation               order            pairs   carries                              fails in
// K1  unpark: exchange        release          K2 K5   out: what the waker wrote            parker_model: publish
// K2  park: load              acquire          K1      what the waker wrote                 parker_model: publish
// K3  park: store empty       relaxed          -       nothing: only the owner consumes
// K4  park: CAS asleep        relaxed/relaxed  -       nothing: the token is taken by K2
// K5  deadline: CAS empty     relaxed/acquire  K1      fail: what the waker wrote           parker_model: deadline
// K6  park: load              relaxed          -       nothing: the token is taken by K2

#include <roost/base/atomic.hpp>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

class futex_parker {
public:
    constexpr futex_parker() noexcept = default;
    futex_parker(const futex_parker&) = delete;
    futex_parker& operator=(const futex_parker&) = delete;

    // Blocks until there is a token, and consumes it.
    void park() noexcept { static_cast<void>(park(no_deadline)); }
    // Returns false if the deadline passed without a token.
    [[nodiscard]] bool park(time_point deadline) noexcept;
    void unpark() noexcept {
        if (word_.exchange(token, mo::release) == asleep) {  // K1
            wake_on(&word_, 1);
        }
    }

private:
    static constexpr std::uint32_t empty = 0;
    static constexpr std::uint32_t asleep = 1;
    static constexpr std::uint32_t token = 2;

    [[nodiscard]] bool take_token() noexcept;

    atomic<std::uint32_t> word_{empty};
};

class portable_parker {
public:
    portable_parker() noexcept = default;
    portable_parker(const portable_parker&) = delete;
    portable_parker& operator=(const portable_parker&) = delete;

    void park() noexcept { static_cast<void>(park(no_deadline)); }
    [[nodiscard]] bool park(time_point deadline) noexcept;
    void unpark() noexcept;

private:
    os_mutex lock_;
    os_condvar woken_;
    bool has_token_ = false;
};

#if defined(ROOST_PORTABLE_PARKER)
using parker = portable_parker;
#else
using parker = futex_parker;
#endif

}  // namespace roost::inline ROOST_ABI::detail
