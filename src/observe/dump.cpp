#include <roost/observe/dump.hpp>

#include <roost/tree/detail/entry_text.hpp>
#include <roost/tree/visit.hpp>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace {

// One node, copied during its visit.
struct line {
    std::uint32_t depth = 0;
    std::size_t end = 0;         // one past the last node below
    std::size_t children = 0;    // directly below
    std::uint64_t hash = 0;     // hash of it and everything below, without times
    detail::entry_text entry;
};

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    return (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U))) * 0xff51afd7ed558ccdU;
}

// Fills in where every subtree ends, how many children it has and its hash. Parents come before children.
void link_up(std::vector<line>& lines) {
    for (std::size_t i = lines.size(); i-- > 0;) {
        line& mine = lines[i];
        mine.end = i + 1;
        mine.hash = mix(std::hash<std::string>()(mine.entry.head), std::hash<std::string>()(mine.entry.tail));
        while (mine.end < lines.size() && lines[mine.end].depth > mine.depth) {
            mine.hash = mix(mine.hash, lines[mine.end].hash);
            ++mine.children;
            mine.end = lines[mine.end].end;
        }
        mine.hash = mix(mine.hash, (mine.entry.left == duration::max() ? 0U : 1U));
    }
}

// Siblings whose subtrees read the same.
struct family {
    std::size_t first;
    std::size_t count = 0;
    duration youngest = duration::max();
    duration oldest = duration(-1);
    duration soonest = duration::max();
};

class writer {
public:
    writer(const std::vector<line>& lines, const dump_options& how, std::size_t limit) noexcept
        : lines_(lines), how_(how), limit_(limit) {}

    // Writes everything from `begin` to `end`, which are siblings and their descendants.
    void siblings(std::size_t begin, std::size_t end) {
        std::vector<family> families;
        std::unordered_map<std::uint64_t, std::size_t> known;
        for (std::size_t i = begin; i < end && !is_full_; i = lines_[i].end) {
            std::size_t at = families.size();
            if (how_.group()) {
                at = known.try_emplace(lines_[i].hash, at).first->second;
            }
            if (at == families.size()) {
                families.push_back(family{i});
            }
            family& mine = families[at];
            ++mine.count;
            const detail::entry_text& entry = lines_[i].entry;
            if (entry.age >= duration(0)) {
                mine.youngest = std::min(mine.youngest, entry.age);
                mine.oldest = std::max(mine.oldest, entry.age);
            }
            mine.soonest = std::min(mine.soonest, entry.left);
        }
        for (const family& f : families) {
            write(f);
            if (is_full_) {
                return;
            }
            siblings(f.first + 1, lines_[f.first].end);
        }
    }

    [[nodiscard]] bool is_full() const noexcept { return is_full_; }

    std::string out;

private:
    void write(const family& f) {
        const line& mine = lines_[f.first];
        std::string text(std::size_t(mine.depth) * 2, ' ');
        if (f.count > 1) {
            text.append(std::to_string(f.count)).append(" x ");
        }
        text.append(mine.entry.head);
        detail::append_age(text, f.youngest, f.oldest);
        text.append(mine.entry.tail);
        detail::append_held_by(text, mine.entry.held_by);
        detail::append_deadline(text, f.soonest);
        if (mine.children > 0) {
            text.append(", ").append(std::to_string(mine.children)).append(mine.children == 1 ? " child" : " children");
        }
        text.append("\n");
        if (out.size() + text.size() > limit_) {
            is_full_ = true;
            return;
        }
        out.append(text);
    }

    const std::vector<line>& lines_;
    const dump_options& how_;
    std::size_t limit_;
    bool is_full_ = false;
};

struct collected {
    std::vector<line> lines;
    std::size_t deeper = 0;
    bool complete = true;
    bool no_memory = false;
};

collected collect(const node& root, const dump_options& how) {
    collected all;
    const visit_result seen = visit(root, how.nodes(), [&](const node_description& d) noexcept {
        if (d.left_out) {
            return;
        }
        if (d.depth > how.depth()) {
            ++all.deeper;
            return;
        }
        try {
            line made;
            made.depth = d.depth;
            made.entry = detail::describe_entry(d);
            all.lines.push_back(std::move(made));
        } catch (const std::bad_alloc&) {
            all.no_memory = true;
        }
    });
    all.complete = seen.complete;
    return all;
}

void limit_to(std::string& out, std::string_view note, std::size_t bytes) {
    if (out.size() + note.size() <= bytes) {
        out.append(note);
    }
}

std::string dump_or_throw(const node& root, const dump_options& how) {
    constexpr std::size_t for_notes = 200;
    collected all = collect(root, how);
    link_up(all.lines);
    writer to(all.lines, how, how.bytes() > for_notes ? how.bytes() - for_notes : 0);
    to.siblings(0, all.lines.size());
    std::string out = std::move(to.out);
    const auto note = [&](const std::string& text) { limit_to(out, text, how.bytes()); };
    if (all.deeper > 0) {
        note("... " + std::to_string(all.deeper) + " more below depth " + std::to_string(how.depth()) + "\n");
    }
    if (!all.complete) {
        note("... more: only " + std::to_string(how.nodes()) + " were visited\n");
    }
    if (!out.empty() && all.no_memory) {
        note("... some left out: no memory\n");
    }
    if (to.is_full()) {
        note("... cut at " + std::to_string(how.bytes()) + " bytes\n");
    }
    return out;
}

}  // namespace

std::string observe::dump(const node& root, dump_options how) noexcept {
    try {
        return dump_or_throw(root, how);
    } catch (...) {
        return "no memory\n";  // short enough to need none
    }
}

}  // namespace roost::inline ROOST_ABI
