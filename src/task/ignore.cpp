#include <roost/task/ignore.hpp>

#include <roost/task/detail/job/job_core.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

namespace {

[[noreturn]] void refuse_foreign_leave(const detail::job_core& of) noexcept {
    const detail::job_core* running = detail::job_core::current();
    const std::string where = running == nullptr ? "outside of jobs" : "in job '" + std::string(running->name()) + "'";
    detail::panic("job", of.name(), of.made_at(),
                  "its ignore guard was left " + where + (of.is_final() ? " after the job had ended" : "") +
                      "; destroy it in the job that made it, before that job ends");
}

}  // namespace

void ignore_guard::leave() noexcept {
    detail::region* in = std::exchange(in_, nullptr);
    if (in == nullptr) {
        return;
    }
    if (detail::job_core::current() != &in->owner()) [[unlikely]] {
        refuse_foreign_leave(in->owner());
    }
    in->leave_ignore();
    in->release();
}

}  // namespace roost::inline ROOST_ABI
