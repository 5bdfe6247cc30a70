#include <roost/task/race.hpp>

#include <roost/task/failure_sink.hpp>
#include <roost/task/job.hpp>

#include <algorithm>

// R1 survives compare_exchange as load and store: of two that end at the same time either may be called the first
// R1 survives compare_exchange as store: as above; nobody looks before all have ended

namespace roost::inline ROOST_ABI {

namespace {

std::string describe_all(const std::vector<std::exception_ptr>& errors) {
    std::string text = "every alternative failed:";
    for (const std::exception_ptr& e : errors) {
        text.append(" [").append(describe(e)).append("]");
    }
    return text;
}

}  // namespace

all_failed::all_failed(std::vector<std::exception_ptr> errors)
    : std::runtime_error(describe_all(errors)),
      errors_(std::make_shared<const std::vector<std::exception_ptr>>(std::move(errors))) {}

namespace detail {

constinit const fork_rules race_rules{
    .policy = told_policy,
    .child = "alternative",
    .needs_all = false,
    .ended =
        +[](fork& group, fork_slot& slot, ending how, job_core* ran) noexcept {
            if (how == ending::threw && ran != nullptr) {
                static_cast<race_slot&>(slot).others = ran->take_suppressed(0);
            }
            return static_cast<race_group&>(group).ended(static_cast<race_slot&>(slot), how);
        },
    .finish = +[](fork& group) noexcept { return static_cast<race_group&>(group).finish(); }};

bool race_group::ended(race_slot& slot, ending how) noexcept {
    if (how == ending::threw) {
        slot.failed_as = failures_.fetch_add(1, mo::relaxed) + 1;  // R1
    }
    if (how == ending::returned || (how == ending::threw && kind_ == race_kind::first_end)) {
        std::uint32_t nobody = 0;
        static_cast<void>(winner_.compare_exchange_strong(nobody, slot.index() + 1, mo::relaxed, mo::relaxed));  // R1
        return true;
    }
    return false;
}

fork_slot* race_group::winner() const noexcept {
    const std::uint32_t won = winner_.load(mo::relaxed);  // R2
    fork_slot* s = won == 0 ? nullptr : first();
    while (s != nullptr && s->index() + 1 != won) {
        s = after(*s);
    }
    return s;
}

// Somebody has won, or there is an error to throw; else everybody was cancelled.
next_step race_group::finish() noexcept {
    const bool has_ended = winner() != nullptr || first() == nullptr ||
                           (kind_ == race_kind::first_value && failures_.load(mo::relaxed) != 0);  // R2
    return has_ended ? next_step::resume(waiter()) : end_cancelled();
}

std::vector<std::exception_ptr> race_group::errors() const {
    std::vector<const race_slot*> in_order(failures_.load(mo::relaxed));  // R2
    for (fork_slot* s = in_order.empty() ? nullptr : first(); s != nullptr; s = after(*s)) {
        if (const std::uint32_t order = static_cast<race_slot&>(*s).failed_as; order != 0) {
            in_order[order - 1] = static_cast<race_slot*>(s);
        }
    }
    std::vector<std::exception_ptr> all;
    for (const race_slot* s : in_order) {
        all.push_back(s->link().error());
        all.insert(all.end(), s->others.begin(), s->others.end());
    }
    return all;
}

std::size_t race_group::winner_or_throw() {
    if (first() == nullptr) {
        throw_empty_race();
    }
    fork_slot* won = winner();
    if (won == nullptr) {
        throw all_failed(errors());
    }
    if (won->link().state() == ending::threw) {
        const std::exception_ptr error = won->link().error();
        for (const std::exception_ptr& other : errors()) {
            if (other != error) {
                job_of(waiter()).add_suppressed(other);
            }
        }
        std::rethrow_exception(error);
    }
    return won->index();
}

}  // namespace detail

void detail::throw_empty_race() { throw error(errc::empty_set, "a race over nothing has no winner"); }

}  // namespace roost::inline ROOST_ABI
