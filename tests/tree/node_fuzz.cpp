// Trees that grow, work, are raised, closed and dropped in any order, against a plain model.

#include <roost/tree/detail/node.hpp>

#include "fuzz_input.hpp"
#include "tree_support.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace testing_support;
using roost::level;

struct model {
    tree_support::ref real;
    int parent;
    level raised;
    bool closing;
    long units;
    bool closed = false;
};

class world {
public:
    world() { all_.push_back({tree_support::make_root(), -1, level::running, false, 0, false}); }

    void grow(std::size_t parent, bool working) {
        model& up = all_[parent];
        auto child = tree_support::make_child(
            *up.real, "child", working ? roost::detail::child_kind::working : roost::detail::child_kind::idle);
        require(static_cast<bool>(child) == (working ? admits(parent) : !up.closing),
                "a closing node takes no child, any other does; below a closed one there is no work");
        if (child) {
            all_.push_back({std::move(child), static_cast<int>(parent), effective(parent), false, working ? 1 : 0, false});
        }
    }
    void enter(std::size_t i) {
        const bool entered = all_[i].real->try_enter();
        require(entered == admits(i), "a closing node takes no work, any other does");
        all_[i].units += entered ? 1 : 0;
    }
    void leave(std::size_t i) {
        if (all_[i].units > 0) {
            --all_[i].units;
            all_[i].real->leave();
        }
    }
    void raise(std::size_t i, level to) {
        all_[i].real->raise(to, roost::reason(roost::reason_kind::requested));
        for (std::size_t k = 0; k < all_.size(); ++k) {
            if (is_below(k, i)) {
                all_[k].raised = std::max(all_[k].raised, to);
            }
        }
    }
    void close(std::size_t i) {
        all_[i].closing = true;
        all_[i].real->close();
    }
    void look() {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            all_[i].closed = all_[i].closed || (all_[i].closing && !has_work(i));
        }
        for (std::size_t i = 0; i < all_.size(); ++i) {
            require(all_[i].real->level_now() == all_[i].raised, "a level is the greatest on the way up, and never sinks");
            require(all_[i].real->has_work() == has_work(i), "work is counted up to the root");
        }
    }
    void finish() {
        for (std::size_t i = all_.size(); i-- > 0;) {
            while (all_[i].units > 0) {
                leave(i);
            }
        }
        look();
    }
    [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
    [[nodiscard]] level effective(std::size_t i) const { return all_[i].raised; }
    [[nodiscard]] bool is_below(std::size_t i, std::size_t top) const {
        for (int at = static_cast<int>(i); at >= 0; at = all_[static_cast<std::size_t>(at)].parent) {
            if (at == static_cast<int>(top)) {
                return true;
            }
        }
        return false;
    }
    // Not closing, and nothing above has ended for good.
    [[nodiscard]] bool admits(std::size_t i) const {
        bool open = !all_[i].closing;
        for (int at = static_cast<int>(i); at >= 0; at = all_[static_cast<std::size_t>(at)].parent) {
            open = open && !all_[static_cast<std::size_t>(at)].closed;
        }
        return open;
    }
    [[nodiscard]] bool has_work(std::size_t top) const {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (all_[i].units > 0 && is_below(i, top)) {
                return true;
            }
        }
        return false;
    }
    std::vector<model> all_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_input in(data, size);
    world w;
    while (!in.is_over() && w.size() < 64) {
        const std::uint8_t what = in.byte();
        const std::size_t who = in.below(w.size());
        switch (what % 8) {
            case 0: w.grow(who, false); break;
            case 1: w.grow(who, true); break;
            case 2:
            case 3: w.enter(who); break;
            case 4:
            case 5: w.leave(who); break;
            case 6: w.raise(who, static_cast<level>(1 + in.below(3))); break;
            default: w.close(who);
        }
        w.look();
    }
    w.finish();
    return 0;
}
