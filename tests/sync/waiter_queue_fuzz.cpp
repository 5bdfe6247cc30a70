// Sequences of waits, wakes, cancels and drops in one queue, against a plain list.

#include <roost/sync/waiter_queue.hpp>

#include "fuzz_input.hpp"
#include "held_operation.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

namespace {

using namespace testing_support;

struct never {
    bool operator()() const noexcept { return false; }
};
using operation = roost::waiter_queue::operation<never>;

struct one {
    explicit one(roost::waiter_queue& q) : held(q.wait_unless(never()), resumed) {}
    roost::seam::plain<int> resumed{0};
    sync_testing::held_operation<operation> held;
    bool should_be_resumed = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_input in(data, size);
    roost::waiter_queue queue("fuzzed");
    std::vector<std::unique_ptr<one>> all;
    std::deque<one*> line;
    const auto wake = [&](std::size_t n) {
        for (; n > 0 && !line.empty(); --n) {
            line.front()->should_be_resumed = true;
            line.pop_front();
        }
    };
    while (!in.is_over()) {
        switch (in.below(6)) {
            case 0:
            case 1:
                all.push_back(std::make_unique<one>(queue));
                line.push_back(all.back().get());
                break;
            case 2: {
                const bool any = !line.empty();
                wake(1);
                require(queue.wake_one() == any, "wake_one says whether there was one");
                break;
            }
            case 3: {
                const std::size_t n = in.below(8);
                const std::size_t expected = std::min(n, line.size());
                wake(n);
                require(queue.wake_n(n) == expected, "wake_n says how many");
                break;
            }
            case 4:
                wake(line.size());
                queue.wake_all();
                break;
            default:
                if (!all.empty()) {
                    const std::size_t i = in.below(all.size());
                    const auto found = std::find(line.begin(), line.end(), all[i].get());
                    if (in.byte() % 2 == 0) {
                        require(all[i]->held.operation().try_cancel() == (found != line.end()),
                                "only who waits can be cancelled");
                    } else {
                        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));  // dropped: frame and operation
                    }
                    if (found != line.end()) {
                        line.erase(found);
                    }
                }
        }
        require(queue.size_approx() == line.size(), "as many wait as should");
        for (const auto& w : all) {
            require(w->resumed.get() == (w->should_be_resumed ? 1 : 0), "resumed once, in order, and never after a cancel");
        }
    }
    all.clear();
    require(queue.size_approx() == 0, "none is left");
    return 0;
}
