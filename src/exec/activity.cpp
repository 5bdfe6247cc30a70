#include <roost/exec/activity.hpp>

namespace roost::inline ROOST_ABI {

activity& activity::of_this_thread() noexcept {
    struct tag;
    return thread_value<tag, activity>::get();
}

}  // namespace roost::inline ROOST_ABI
