// Orders P1 to P7: service/detail/liveness_probe.hpp.

#include <roost/service/detail/liveness_probe.hpp>

namespace roost::inline ROOST_ABI::service::detail {

using namespace ext;
using namespace seam;

void liveness_probe::ran(work& self) noexcept {
    auto& me = static_cast<liveness_probe&>(self);
    state expected = state::posted;
    if (!me.state_.compare_exchange_strong(expected, state::idle, mo::release, mo::acquire)) {  // P1
        delete &me;
    }
}

void liveness_probe::leave() noexcept {
    if (state_.exchange(state::orphan, mo::acq_rel) == state::idle) {  // P3
        delete this;
    }
}

void liveness_probe::probe(time_point now) noexcept {
    if (refused_ || state_.load(mo::acquire) != state::idle) {  // P2
        return;
    }
    posted_at_.store(now.time_since_epoch().count(), mo::relaxed);  // P4
    state_.store(state::posted, mo::release);  // P5
    if (!where_.post(*this)) {
        refused_ = true;  // closed: the executor is ending
        state_.store(state::idle, mo::relaxed);  // P6
    }
}

bool liveness_probe::is_live(time_point now, duration limit) const noexcept {
    return state_.load(mo::acquire) == state::idle ||  // P7
           now - time_point(duration(posted_at_.load(mo::relaxed))) < limit;  // P4
}

}  // namespace roost::inline ROOST_ABI::service::detail
