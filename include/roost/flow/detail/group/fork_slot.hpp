#pragma once

// A child of a group: its frame until it begins, then its result.

#include <roost/task/detail/job/failure_list.hpp>
#include <roost/task/detail/job/job_core.hpp>

namespace roost::inline ROOST_ABI::detail {

class fork;

class fork_slot {
public:
    fork_slot(settled_link& link, std::uint32_t index) noexcept : link_(&link), index_(index) {}
    fork_slot(const fork_slot&) = delete;
    fork_slot& operator=(const fork_slot&) = delete;
    [[nodiscard]] settled_link& link() const noexcept { return *link_; }
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

protected:
    [[nodiscard]] fork& group() const noexcept { return *group_; }
    ~fork_slot() = default;

private:
    friend class fork;
    settled_link* link_;
    fork* group_ = nullptr;
    fork_slot* next_ = nullptr;
    std::uint32_t index_;
    bool is_from_above_ = false;  // it was cancelled because the whole group was
};

// A slot that also holds the further failures of its child.
class outcome_slot : public fork_slot {
public:
    using fork_slot::fork_slot;
    failure_list others;
};

}  // namespace roost::inline ROOST_ABI::detail
