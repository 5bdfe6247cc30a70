#include <roost/observe/job_events.hpp>

#include <roost/base/error.hpp>
#include <roost/task/detail/job/watching.hpp>

namespace roost::inline ROOST_ABI {

using namespace observe;

using detail::watching;

bool observe::set_job_counting(bool on) noexcept { return watching::all().count(on); }
job_counts observe::job_counts_now() noexcept { return watching::all().counts(); }

observation::observation(job_observer& observer) : slot_(watching::all().add_observer(observer)) {
    if (slot_ == watching::slots) {
        throw error(errc::refused, "too many job observers (at most 8)");
    }
}
observation::~observation() { watching::all().remove_observer(slot_); }

}  // namespace roost::inline ROOST_ABI
