#pragma once

#include <roost/service/budgets.hpp>
#include <roost/service/component.hpp>

#include <list>
#include <vector>

namespace roost::inline ROOST_ABI::service::detail {

// The components of a service, and how one stage after the other is stopped.
class component_list {
public:
    component_list(roost::shutdown work, roost::shutdown resources, executor_ref where, const schedule& times,
                   component_failures* failures = nullptr);
    ~component_list();
    component_list(const component_list&) = delete;
    component_list& operator=(const component_list&) = delete;

    component& add(node_name name, const component_options& options, std::source_location made_at);
    [[nodiscard]] component& main() noexcept { return *main_; }
    // Adds the component of the root task, which is stopped last. Called once, first.
    component& add_main(node_name name, std::source_location made_at);

    // Begins to stop a stage; components added later are born stopped. wake_fd is rung whenever one may have ended. May be
    // called again after it has thrown.
    void begin(stage which, time_point deadline, reason why, int wake_fd);
    // Continues what begin() began. Returns true when every component of that stage is over. Lowers `next` to the time of
    // the next step.
    [[nodiscard]] bool step(time_point now, time_point& next);
    // Components up to this stage refuse new jobs.
    void close(stage last) noexcept;

private:
    using group = std::vector<component*>;
    component& make(roost::shutdown node, const component_options& options, site made_at);
    void check_budget(const component_options& options, std::string_view name) const;
    void start_group(const group& g, time_point now, std::size_t groups_left);
    static bool is_over(const group& g) noexcept;

    roost::shutdown work_;
    roost::shutdown resources_;
    executor_ref where_;
    const schedule* times_;
    component_failures* failures_;
    mutable seam::os_mutex lock_;  // guards the list and stopped_
    std::list<component*> all_;
    component* main_ = nullptr;
    bool stopped_[3] = {};

    // Used by the conductor alone.
    std::vector<group> groups_;
    std::size_t started_ = 0;
    time_point group_deadline_ = no_deadline;
    time_point stage_deadline_ = no_deadline;
    reason why_;
    int wake_fd_ = -1;
};

// Rings when the node is stopped and its subtree is drained.
void ring_when_over(const roost::shutdown& node, int wake_fd);

}  // namespace roost::inline ROOST_ABI::service::detail
