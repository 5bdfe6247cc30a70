#include <roost/task/detail/job/carried_failures.hpp>

#include <roost/task/detail/job/job_core.hpp>
#include <roost/task/others_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

namespace {

// How many hold the exception: exception_ptrs, throws and handlers. libstdc++ keeps the count in front of the object, behind its
// other bookkeeping. Read by a thread that would be the last holder: then no other thread changes it.
const volatile int* holders_of(const std::exception_ptr& error) noexcept {
    constexpr std::ptrdiff_t bookkeeping = 128;
    const char* object = nullptr;
    static_assert(sizeof(error) == sizeof(object));
    std::memcpy(static_cast<void*>(&object), static_cast<const void*>(&error), sizeof(object));
    return reinterpret_cast<const volatile int*>(object - bookkeeping);
}

// Whether the count is where it is looked for. Other libraries keep it elsewhere.
bool knows_holders() noexcept {
#if defined(__GLIBCXX__) && defined(__LP64__)
    static const bool known = [] {
        const std::exception_ptr one = std::make_exception_ptr(1);
        const volatile int* const count = holders_of(one);
        const int before = *count;
        const std::vector<std::exception_ptr> second(1, one);
        return before == 1 && *count == 2;
    }();
    return known;
#else
    return false;
#endif
}

// True: caught and forgotten, as far as is known.
bool is_only_holder(const std::exception_ptr& error) noexcept { return !knows_holders() || *holders_of(error) == 1; }

}  // namespace

std::vector<carried_failures::entry>::const_iterator carried_failures::find(
    const std::exception_ptr& thrown) const noexcept {
    return std::find_if(all_.begin(), all_.end(), [&](const entry& e) { return e.thrown == thrown; });
}

failure_list carried_failures::add(const std::exception_ptr& thrown, failure_list others) {
    if (const auto found = find(thrown); found != all_.end()) {
        all_[static_cast<std::size_t>(found - all_.begin())].others.add(others);
        return {};
    }
    all_.reserve(std::max(exceptions_kept, all_.size() + 1));
    failure_list dropped;
    if (all_.size() >= exceptions_kept) {
        const auto gone = std::find_if(all_.begin(), all_.end(), [](const entry& e) { return is_only_holder(e.thrown); });
        if (gone != all_.end()) {
            all_.erase(gone);
        } else if (all_.size() == held_exceptions_kept) {
            dropped = std::move(all_.front().others);
            all_.erase(all_.begin());
        }
    }
    all_.push_back(entry{thrown, std::move(others)});
    return dropped;
}

failure_list carried_failures::beside(const std::exception_ptr& thrown) const noexcept {
    const auto found = find(thrown);
    return found == all_.end() ? failure_list() : found->others;
}

failure_list carried_failures::take(const std::exception_ptr& thrown) noexcept {
    failure_list taken;
    if (const auto found = find(thrown); found != all_.end()) {
        taken = std::move(all_[static_cast<std::size_t>(found - all_.begin())].others);
        all_.erase(found);
    }
    return taken;
}

}  // namespace roost::inline ROOST_ABI::detail

namespace roost::inline ROOST_ABI {

std::vector<std::exception_ptr> others_of(const std::exception_ptr& caught) {
    const detail::job_core* running = detail::job_core::current();
    return running == nullptr ? std::vector<std::exception_ptr>() : running->carried(caught).to_vector(caught);
}

}  // namespace roost::inline ROOST_ABI
