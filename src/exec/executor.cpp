#include <roost/exec/executor.hpp>

#include <roost/base/atomic.hpp>

// id  operation                  order    pairs  carries                        fails in
// X1  set_fallback: exchange     acq_rel  X1 X2  the executor's construction    executor_model: fallback_visible
//                                                in: the one it replaces        executor_model: two_install
// X2  fall_back: load            acquire  X1     the executor's construction    executor_model: fallback_visible

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {

atomic<executor*>& fallback_slot() noexcept {
    static atomic<executor*> slot{nullptr};
    return slot;
}

}  // namespace

executor_ref ext::set_fallback_executor(executor_ref fallback) noexcept {
    executor* previous = fallback_slot().exchange(fallback.get(), mo::acq_rel);  // X1
    return previous == nullptr ? executor_ref() : executor_ref(*previous);
}

void detail::fall_back(executor_ref to, work& w, std::string_view what) noexcept {
    executor* fallback = fallback_slot().load(mo::acquire);  // X2
    if (fallback != nullptr && fallback->post(w)) {
        return;
    }
    detail::panic(
        to ? to->name() : std::string_view("executor"), what, site(),
        "it is closed and took no more work, and there is no fallback executor, so a wake would be lost; keep it open until "
        "everything that runs on it has ended, or call roost::ext::set_fallback_executor()");
}

}  // namespace roost::inline ROOST_ABI
