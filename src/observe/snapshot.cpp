#include <roost/observe/snapshot.hpp>

#include <roost/base/detail/subject_text.hpp>
#include <roost/tree/detail/entry_text.hpp>

#include <algorithm>
#include <exception>

// How a snapshot is taken. The facts of each node are copied while the walk is at it. Texts are in blocks that never move.
// (JSON: snapshot_json.cpp.)

namespace roost::inline ROOST_ABI {

using namespace observe;

bool snapshot_options::matches(const node_description& d, std::optional<time_point> started, time_point at) const noexcept {
    if (d.left_out || (!kind_.empty() && d.kind != kind_)) {
        return false;
    }
    if (!name_.empty() && d.name.find(name_) == std::string_view::npos) {
        return false;
    }
    if (!waits_on_.empty() && d.waits_on.find(waits_on_) == std::string_view::npos) {
        return false;
    }
    return age_ < duration(0) || (started && at - *started >= age_);
}

class tree_snapshot::builder {
public:
    builder(tree_snapshot& to, const snapshot_options& how, const detail::walk_position& from) : to_(to), how_(how) {
        for (const auto& level : from.levels()) {
            parents_.push_back(level.seen.empty() ? 0 : level.seen.back());
        }
        to_.taken_ = now();
    }

    // Returns false if the page is full.
    static bool take(void* context, const node_description& d, std::uint64_t id) noexcept {
        auto& me = *static_cast<builder*>(context);
        try {
            return me.add(d, id);
        } catch (...) {
            me.thrown_ = std::current_exception();
            return false;
        }
    }
    void rethrow() const {
        if (thrown_) {
            std::rethrow_exception(thrown_);
        }
    }

private:
    static constexpr std::size_t block_size = 64 * 1024;

    bool add(const node_description& d, std::uint64_t id) {
        parents_.resize(d.depth + 1);
        parents_[d.depth] = id;
        ++to_.visited_;
        started_.resize(d.depth + 1);
        const bool is_part = d.depth > 0 && d.target->functions().own == detail::own_work::none;
        started_[d.depth] = d.started || !is_part ? d.started : started_[d.depth - 1];
        if (how_.matches(d, started_[d.depth], to_.taken_)) {
            snapshot_row& row = to_.rows_.emplace_back();
            row.id = id;
            row.parent = d.depth == 0 ? 0 : parents_[d.depth - 1];
            fill(row, d);
            used_ += sizeof(snapshot_row);
        }
        return to_.rows_.size() < how_.nodes() && used_ < how_.bytes() && to_.visited_ < how_.visits();
    }

    void fill(snapshot_row& row, const node_description& d) {
        row.depth = d.depth;
        row.units = d.units;
        row.kind = d.kind;  // a literal
        row.name = keep(d.name);
        row.site = d.site;
        row.state = d.state.empty() ? to_string(d.now) : d.state;
        row.now = d.now;
        row.requested = d.requested;
        row.shield = d.shield;
        row.closing = d.closing;
        row.closed = d.closed;
        row.uninterruptible = d.uninterruptible;
        if (d.requested > level::running) {
            if (const reason why = d.target->why_with_origin(d.requested)) {
                row.reason = keep(why.to_string());
            }
        }
        if (d.started) {
            row.age = std::max(duration(0), now() - *d.started);
        }
        if (d.deadline != no_deadline) {
            row.left = d.deadline - d.deadline_clock.value_or(now());
        }
        row.waits_on = keep(d.waits_on);
        row.held_by = keep(d.held_by);
        row.trace = keep(d.trace);
        if (d.waits_at.is_known()) {
            scratch_.clear();
            detail::append_stack(scratch_, d);
            row.stack = keep(std::string_view(scratch_).substr(std::string_view(", at ").size()));
        }
    }

    std::string_view keep(std::string_view text) {
        if (text.empty()) {
            return {};
        }
        if (to_.texts_.empty() || to_.texts_.back().capacity() - to_.texts_.back().size() < text.size()) {
            to_.texts_.emplace_back().reserve(std::max(block_size, text.size()));
        }
        std::vector<char>& block = to_.texts_.back();
        const std::size_t at = block.size();
        block.insert(block.end(), text.begin(), text.end());
        used_ += text.size();
        return {block.data() + at, text.size()};
    }

    tree_snapshot& to_;
    const snapshot_options& how_;
    std::vector<std::uint64_t> parents_;  // by depth
    std::vector<std::optional<time_point>> started_;  // by depth
    std::string scratch_;
    std::size_t used_ = 0;
    std::exception_ptr thrown_;
};

tree_snapshot observe::snapshot(const roost::node& root, const snapshot_options& how, snapshot_page& from) {
    tree_snapshot made;
    if (from.is_end_) {
        return made;
    }
    snapshot_page next = from;
    tree_snapshot::builder to(made, how, next.at_);
    made.is_complete_ = detail::walk_page(root, next.at_, &to, &tree_snapshot::builder::take);
    to.rethrow();
    next.is_end_ = made.is_complete_;
    from = std::move(next);
    return made;
}

tree_snapshot observe::snapshot(const roost::node& root, const snapshot_options& how) {
    snapshot_page first;
    return snapshot(root, how, first);
}

const snapshot_row* tree_snapshot::find(std::uint64_t id) const noexcept {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const snapshot_row& r) { return r.id == id; });
    return found == rows_.end() || id == 0 ? nullptr : &*found;
}

std::size_t tree_snapshot::bytes() const noexcept {
    std::size_t sum = rows_.size() * sizeof(snapshot_row);
    for (const std::vector<char>& block : texts_) {
        sum += block.size();
    }
    return sum;
}

std::string snapshot_row::to_string() const {
    std::string out;
    detail::append_subject(out, kind, detail::shown(name), site);
    out.append(", ").append(state);
    if (requested != now) {
        out.append(", ").append(roost::to_string(requested)).append(" held up");
    }
    if (!reason.empty()) {
        out.append(" (");
        detail::append_on_one_line(out, detail::shown(reason));
        out.append(")");
    }
    if (shield) {
        out.append(", shielded");
    }
    detail::append_age(out, age.value_or(duration(-1)), age.value_or(duration(-1)));
    if (!stack.empty()) {
        out.append(", at ").append(stack);
    }
    if (!waits_on.empty()) {
        out.append(", waits on ");
        detail::append_on_one_line(out, detail::shown(waits_on));
    }
    if (uninterruptible) {
        out.append(", uninterruptible");
    }
    detail::append_held_by(out, detail::shown(held_by));
    detail::append_deadline(out, left.value_or(duration::max()));
    return out;
}

std::string tree_snapshot::to_text() const {
    std::string out;
    for (const snapshot_row& r : rows_) {
        out.append(std::size_t(r.depth) * 2, ' ').append(r.to_string()).append("\n");
    }
    return out;
}

std::uint64_t observe::id_of(const roost::node& n) noexcept {
    return n ? detail::node_ids::of(detail::tree_access::core_of(n)) : 0;
}

roost::node observe::find_node(std::uint64_t id) noexcept {
    const detail::node_ref<> found = detail::node_ids::find(id);
    return found ? roost::node(*found) : roost::node();
}

}  // namespace roost::inline ROOST_ABI
