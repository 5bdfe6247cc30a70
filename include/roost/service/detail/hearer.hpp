#pragma once

// A receiver that any thread may call while it is registered. Failures and panics come from threads that do not know the
// service, also while it ends.
//
// fields   none
// I1       a caller is counted inside before it reads the receiver; leave() clears the receiver, then waits for a count of zero
//
// id  operation             order    pairs  carries                       fails in
// E1  come: store           release  E3     out: who hears                hearer_model: come_vs_tell
// E2  tell, in: fetch_add   seq_cst  E5     I1                            hearer_model: leave_vs_tell
// E3  tell: load            seq_cst  E1 E5  in: who hears; I1             hearer_model: leave_vs_tell
// E4  tell, out: fetch_sub  release  E5     out: done with who hears      hearer_model: leave_vs_tell
// E5  leave: store, load    seq_cst  E2 E4  I1                            hearer_model: leave_vs_tell

#include <roost/base/atomic.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

template <class Who>
class hearer {
public:
    constexpr hearer() noexcept = default;
    hearer(const hearer&) = delete;
    hearer& operator=(const hearer&) = delete;

    void come(Who& who) noexcept { who_.store(&who, mo::release); }  // E1
    // Blocks until no thread uses the receiver. Must not be called from inside tell().
    void leave() noexcept {
        who_.store(nullptr, mo::seq_cst);  // E5
        while (inside_.load(mo::seq_cst) != 0) {  // E5
            yield_thread();
        }
    }
    // Calls tell(receiver) if there is one. Thread-safe.
    template <class Tell>
    void tell(Tell tell) noexcept {
        inside_.fetch_add(1, mo::seq_cst);  // E2
        if (Who* who = who_.load(mo::seq_cst)) {  // E3
            tell(*who);
        }
        inside_.fetch_sub(1, mo::release);  // E4
    }

private:
    atomic<Who*> who_{nullptr};
    atomic<std::uint32_t> inside_{0};
};

}  // namespace roost::inline ROOST_ABI::service::detail
