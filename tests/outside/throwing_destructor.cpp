// A destructor that throws in any frame of a cancelled task is contained and reported, and the program goes on.
#include <roost/roost.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string_view>

using namespace roost;
using namespace std::chrono_literals;

namespace {

constexpr int depth = 6;
std::atomic<int> reported{0};
int alive = 0;

class counted {
public:
    counted() { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
};
class bad {
public:
    explicit bad(bool throws) : throws_(throws) {}
    bad(const bad&) = delete;
    bad& operator=(const bad&) = delete;
    ~bad() noexcept(false) {
        if (throws_) {
            throw std::runtime_error("from a destructor");
        }
    }

private:
    bool throws_;
};

task<> frame(int at, int throwing, event& reached) {
    const counted before;
    const bad local(at == throwing || throwing == depth);
    const counted after;
    if (at + 1 < depth) {
        co_await frame(at + 1, throwing, reached);
    } else {
        reached.set();
        co_await sleep_for(1h);
    }
}
task<bool> cancel_one(int throwing) {
    const job me = co_await this_job();
    event reached;
    const auto body = [](scope& s, int which, event& e) -> task<bool> {
        const job victim = s.launch("victim", frame(0, which, e));
        co_await e.wait();
        victim.cancel();
        co_await victim.join();
        co_return victim.state() == job_state::cancelled&& victim.others().size() ==
            static_cast<std::size_t>(which == depth ? depth : 1);
    };
    const auto ended = co_await as_outcome(with_scope(body, throwing, std::ref(reached)));
    // What a cleanup fails with fails the scope, as it cannot be caught elsewhere.
    co_return ended.has_error() || (ended.has_value() && ended.value());
}
task<int> all() {
    for (int throwing = 0; throwing <= depth; ++throwing) {
        const bool right = co_await cancel_one(throwing);
        if (!right || alive != 0) {
            co_return throwing + 1;
        }
    }
    co_return 0;
}

}  // namespace

int main() {
    alarm(110);
    set_failure_sink(+[](std::string_view, std::string_view, site, std::exception_ptr) noexcept { ++reported; });
    const int wrong = run(all(), runtime_options().workers(1));
    if (wrong != 0) {
        std::printf("throwing_destructor: frame %d was not contained, %d locals are left\n", wrong - 1, alive);
        return 1;
    }
    return 0;
}
