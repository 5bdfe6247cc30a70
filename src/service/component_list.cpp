#include <roost/service/detail/component_list.hpp>

#include <roost/base/error.hpp>
#include <roost/service/detail/stop_order.hpp>
#include <roost/service/detail/wake_fd.hpp>

#include <algorithm>
#include <coroutine>
#include <mutex>

namespace roost::inline ROOST_ABI::service::detail {

using namespace ext;
using namespace seam;

namespace {

// A detached coroutine: runs until it has rung, on the thread that ends the wait.
class ringer {
public:
    class promise_type {
    public:
        ringer get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

ringer ring_after(shutdown_completion over, int fd) {
    co_await over.wait();
    wake_fd::ring(fd);
}

phase phase_of(stage s) noexcept {
    return s == stage::intake ? phase::stop_intake : s == stage::work ? phase::drain : phase::release;
}

}  // namespace

void ring_when_over(const roost::shutdown& node, int fd) { ring_after(node.completion(), fd); }

component_list::component_list(roost::shutdown work, roost::shutdown resources, executor_ref where, const schedule& times,
                               component_failures* failures)
    : work_(std::move(work)), resources_(std::move(resources)), where_(where), times_(&times), failures_(failures) {}

component_list::~component_list() {
    for (component* c : all_) {
        delete c;
    }
}

void component_list::check_budget(const component_options& options, std::string_view name) const {
    if (!options.budget()) {
        return;
    }
    const phase p = phase_of(options.stage());
    duration sum = *options.budget();
    for (const component* c : all_) {
        if (c->options().stage() == options.stage() && c->options().budget()) {
            sum += *c->options().budget();
        }
    }
    if (sum > times_->of(p) || *options.budget() < duration(0)) {
        throw error(errc::refused, "component '" + std::string(name) + "': its budget of " +
                                       format_duration(*options.budget()) + " makes " + format_duration(sum) +
                                       " for phase " + std::string(to_string(p)) + ", which has " +
                                       format_duration(times_->of(p)));
    }
}

component& component_list::make(roost::shutdown node, const component_options& options, site made_at) {
    all_.push_back(nullptr);  // what can fail comes first
    try {
        all_.back() = new component(std::move(node), where_, options, made_at, failures_);
    } catch (...) {
        all_.pop_back();
        throw;
    }
    return *all_.back();
}

component& component_list::add_main(node_name name, std::source_location made_at) {
    main_ = &make(work_.child(name, made_at), component_options(), made_at);
    return *main_;
}

component& component_list::add(node_name name, const component_options& options, std::source_location made_at) {
    bool too_late = false;
    component* made = nullptr;
    {
        const std::lock_guard hold(lock_);
        check_budget(options, name.text());
        const roost::shutdown& parent = options.stage() == stage::release ? resources_ : work_;
        made = &make(parent.child(name, made_at), options, made_at);
        too_late = stopped_[static_cast<std::size_t>(options.stage())];
    }
    if (too_late) {
        made->begin_stop(reason::plain_kind(reason_kind::shutdown));
    }
    return *made;
}

void component_list::begin(stage which, time_point deadline, reason why, int wake) {
    std::vector<component*> mine;
    std::vector<stop_place> places;
    {
        const std::lock_guard hold(lock_);
        for (component* c : all_) {
            if (c->options().stage() == which) {
                mine.push_back(c);
                places.emplace_back(c->options().rank(), c == main_);
            }
        }
        stopped_[static_cast<std::size_t>(which)] = true;
    }
    std::vector<group> groups;
    for (const std::vector<std::size_t>& indices : stop_order(places)) {
        group& g = groups.emplace_back();
        for (const std::size_t i : indices) {
            g.push_back(mine[i]);
        }
    }
    groups_.swap(groups);  // nothing fails from here
    started_ = 0;
    stage_deadline_ = deadline;
    group_deadline_ = time_point::min();
    why_ = std::move(why);
    wake_fd_ = wake;
}

void component_list::start_group(const group& g, time_point now, std::size_t groups_left) {
    duration longest = fair_share(stage_deadline_ == no_deadline ? duration::max() : stage_deadline_ - now, groups_left);
    bool named = false;
    for (component* c : g) {
        if (const auto own = c->options().budget()) {
            longest = named ? std::max(longest, *own) : *own;
            named = true;
        }
        c->begin_stop(why_);
        ring_when_over(c->shutdown(), wake_fd_);
    }
    group_deadline_ = std::min(stage_deadline_, deadline_after(now, longest));
}

void component_list::close(stage last) noexcept {
    const std::lock_guard hold(lock_);
    for (component* c : all_) {
        if (c->options().stage() <= last) {
            c->close();
        }
    }
}

bool component_list::is_over(const group& g) noexcept {
    return std::all_of(g.begin(), g.end(), [](const component* c) { return c->is_over(); });
}

bool component_list::step(time_point now, time_point& next) {
    while (started_ < groups_.size() && (started_ == 0 || is_over(groups_[started_ - 1]) || now >= group_deadline_)) {
        start_group(groups_[started_], now, groups_.size() - started_);
        ++started_;
    }
    if (started_ < groups_.size()) {
        next = std::min(next, group_deadline_);
        return false;
    }
    return std::all_of(groups_.begin(), groups_.end(), [](const group& g) { return is_over(g); });
}

}  // namespace roost::inline ROOST_ABI::service::detail
