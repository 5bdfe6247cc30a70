#include <roost/runtime/blocking_lane.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/detail/subject_text.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/format_duration.hpp>
#include <roost/runtime/detail/lane_core.hpp>

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace ext;

std::string lane_entry::to_string() const {
    std::string text;
    detail::append_subject(text, name_.empty() ? "a blocking function" : "blocking function of", name_, where_);
    const std::string age = format_duration(age_);
    switch (how_) {
        case state::running: return text + ", running for " + age;
        case state::waits_for_task: return text + ", running for " + age + ", waits for a task";
        case state::ending: return text + ", returned; its thread has been destroying thread-locals for " + age;
        case state::queued: break;
    }
    return text + ", not begun";
}

blocking_lane::blocking_lane(std::size_t limit, std::string_view name, duration keep_idle)
    : core_(std::make_shared<detail::lane_core>(limit, name, keep_idle)) {}

blocking_lane::~blocking_lane() {
    for (const lane_entry& left : close()) {
        try {
            detail::write_stderr("roost: blocking lane '" + core_->name() + "' ended and abandoned " + left.to_string() +
                                 "\n");
        } catch (const std::exception&) {
            detail::write_stderr("roost: a blocking lane ended and abandoned some of its threads\n");
        }
    }
}

bool blocking_lane::submit(blocking_work& w) noexcept {
    fork_.require_parent("blocking lane", core_->name());
    return core_->submit(w);
}

bool blocking_lane::withdraw(blocking_work& w) noexcept { return core_->withdraw(w); }

std::vector<lane_entry> blocking_lane::close(duration patience) noexcept {
    if (fork_.is_forked_child()) {
        return {};
    }
    if (is_here()) {
        detail::panic("blocking lane", core_->name(), site(),
                      "a thread of the lane cannot wait for its own lane to end; destroy the lane on another thread");
    }
    return core_->close(patience);
}

std::vector<lane_entry> blocking_lane::running() const { return core_->running(); }
bool blocking_lane::may_deliver() noexcept { return detail::lane_core::may_deliver(); }
void blocking_lane::has_delivered() noexcept { detail::lane_core::has_delivered(); }
bool blocking_lane::is_here() const noexcept { return detail::lane_core::of_this_thread() == core_.get(); }
std::size_t blocking_lane::threads() const noexcept { return core_->threads(); }
std::size_t blocking_lane::busy() const noexcept { return core_->busy(); }
std::size_t blocking_lane::queued() const noexcept { return core_->queued(); }
std::string_view blocking_lane::name() const noexcept { return core_->name(); }

}  // namespace roost::inline ROOST_ABI
