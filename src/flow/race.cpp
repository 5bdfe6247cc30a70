// Orders R1 and R2: flow/detail/group/race_group.hpp.

#include <roost/flow/race.hpp>

#include <roost/base/failure_sink.hpp>
#include <roost/task/job.hpp>

#include <algorithm>

// R1 survives compare_exchange as load and store: of two that end at the same time either may be called the first
// R1 survives compare_exchange as store: as above; not read before all have ended

namespace roost::inline ROOST_ABI {

using namespace seam;

namespace {

// Errors may be of this kind themselves, to any depth: the description of deep ones is left out.
constexpr std::size_t longest_description = 2000;

std::string describe_all(const std::vector<std::exception_ptr>& errors) {
    std::string text = "every alternative failed:";
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const std::string one = describe(errors[i]);
        if (text.size() + one.size() > longest_description) {
            text.append(" [")
                .append(one, 0, longest_description - std::min(longest_description, text.size()))
                .append("...]");
            text.append(" (").append(std::to_string(errors.size())).append(" errors)");
            break;
        }
        text.append(" [").append(one).append("]");
    }
    return text;
}

// Errors that are destroyed after those around them. Only the outermost destruction on a thread takes them out, so nested
// errors of this kind take constant stack.
class nested_errors {
public:
    explicit nested_errors(std::vector<std::exception_ptr> all) noexcept : all_(std::move(all)) {}
    [[nodiscard]] const std::vector<std::exception_ptr>& all() const noexcept { return all_; }

    static void destroy(nested_errors* mine) noexcept {
        nested_errors*& last = waiting();
        nested_errors* const before = std::exchange(last, mine);
        if (before != nullptr) {
            before->next_ = mine;
            return;
        }
        while (mine != nullptr) {
            mine->all_.clear();
            nested_errors* const after = mine->next_;
            if (after == nullptr) {
                last = nullptr;
            }
            delete mine;
            mine = after;
        }
    }

private:
    // The last of those that wait on this thread.
    static nested_errors*& waiting() noexcept {
        struct tag;
        return thread_value<tag, nested_errors*>::get();
    }

    std::vector<std::exception_ptr> all_;
    nested_errors* next_ = nullptr;
};

std::shared_ptr<const std::vector<std::exception_ptr>> shared_errors(std::vector<std::exception_ptr> all) {
    const std::shared_ptr<nested_errors> made(new nested_errors(std::move(all)), nested_errors::destroy);
    return {made, &made->all()};
}

}  // namespace

all_failed::all_failed(std::vector<std::exception_ptr> errors)
    : std::runtime_error(describe_all(errors)), errors_(shared_errors(std::move(errors))) {}

namespace detail {

constinit const fork_rules race_rules{
    .policy = outcome_policy,
    .child = "alternative",
    .needs_all = false,
    .ended =
        +[](fork& group, fork_slot& slot, ending how, job_core* ran) noexcept {
            if (how == ending::threw && ran != nullptr) {
                static_cast<race_slot&>(slot).others = ran->take_beside(slot.link().error(), 0);
            }
            return static_cast<race_group&>(group).ended(static_cast<race_slot&>(slot), how);
        },
    .finish = +[](fork& group) noexcept { return static_cast<race_group&>(group).finish(); }};

bool race_group::ended(race_slot& slot, ending how) noexcept {
    if (how == ending::threw) {
        slot.failed_as = failures_.fetch_add(1, mo::relaxed) + 1;  // R1
    }
    if (how == ending::returned || (how == ending::threw && kind_ == race_kind::first_end)) {
        std::uint32_t none = 0;
        static_cast<void>(winner_.compare_exchange_strong(none, slot.index() + 1, mo::relaxed, mo::relaxed));  // R1
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

// Resumes if there is a winner, or an error to throw. Otherwise all were cancelled.
next_step race_group::finish() noexcept {
    const bool has_ended = winner() != nullptr || first() == nullptr ||
                           (kind_ == race_kind::first_value && failures_.load(mo::relaxed) != 0);  // R2
    return has_ended ? next_step::resume(waiter()) : end_cancelled();
}

std::vector<const race_slot*> race_group::failed_slots() const {
    std::vector<const race_slot*> in_order(failures_.load(mo::relaxed));  // R2
    for (fork_slot* s = in_order.empty() ? nullptr : first(); s != nullptr; s = after(*s)) {
        if (const std::uint32_t order = static_cast<race_slot&>(*s).failed_as; order != 0) {
            in_order[order - 1] = static_cast<race_slot*>(s);
        }
    }
    return in_order;
}

std::vector<std::exception_ptr> race_group::errors() const {
    std::vector<std::exception_ptr> all;
    for (const race_slot* s : failed_slots()) {
        const std::vector<std::exception_ptr> others = s->others.to_vector(s->link().error());
        all.push_back(s->link().error());
        all.insert(all.end(), others.begin(), others.end());
    }
    return all;
}

std::size_t race_group::winner_or_throw() {
    if (first() == nullptr) {
        throw_empty_race(kind_);
    }
    fork_slot* won = winner();
    if (won == nullptr) {
        throw all_failed(errors());
    }
    if (won->link().state() == ending::threw) {
        const std::exception_ptr error = won->link().error();
        for (const race_slot* s : failed_slots()) {
            if (s->link().error() != error) {
                job_of(waiter()).carry(error, s->link().error());
            }
            job_of(waiter()).carry(error, s->others);
        }
        std::rethrow_exception(error);
    }
    return won->index();
}

}  // namespace detail

void detail::throw_empty_race(race_kind kind) {
    throw error(errc::empty_set, std::string(name_of(kind).text()) + "(): the vector is empty; pass at least one task");
}

}  // namespace roost::inline ROOST_ABI
