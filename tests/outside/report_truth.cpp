// A shutdown report says of jobs with one name and place what each of them waits on, and how many do.
#include <roost/roost.hpp>

#include <unistd.h>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;

struct foreign {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> /*h*/) const noexcept {}
    void await_resume() const noexcept {}
};

using connections = roost::pool<int>;

roost::task<> query(connections& db, bool has_one) {
    if (has_one) {
        co_await foreign();
    } else {
        auto c = co_await db.acquire("query");
        static_cast<void>(c);
    }
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
bool tells_apart(const std::string& text) {
    return has(text, "8 wait on pool 'connections'") && has(text, "8 wait on foreign awaitable at ") &&
           has(text, "report_truth.cpp:25 (uninterruptible)");
}

}  // namespace

int main() {
    alarm(60);
    roost::runtime rt(roost::runtime_options().workers(1));
    const roost::shutdown s("server");
    connections db(roost::pool_options(1, "connections"), [] { return 1; });
    auto taken = db.try_acquire_or_create("test");
    auto root = std::make_unique<roost::owned_scope>(s.tree_node(), rt, roost::node_name("jobs"));
    for (int i = 0; i < 16; ++i) {
        root->launch("query", query(db, i % 2 == 0));
    }
    for (int i = 0; i < 3000 && !tells_apart(s.report().to_string()); ++i) {  // until all of them wait
        std::this_thread::sleep_for(10ms);
    }
    auto done = s.shut_down();
    if (done.wait_blocking(100ms)) {
        std::printf("the shutdown completed with 16 jobs in it\n");
        std::_Exit(1);
    }
    const roost::shutdown_report report = s.report();
    const std::string text = report.to_string();
    int wrong = 0;
    if (report.total() != 16 || s.guard_count() != 16) {
        std::printf("16 jobs are outstanding, the report has %zu and the count is %zu\n", report.total(), s.guard_count());
        wrong = 1;
    }
    if (!tells_apart(text)) {
        std::printf("the report does not tell them apart:\n%s", text.c_str());
        wrong = 1;
    }
    if (has(text, "unknown site")) {
        std::printf("the report has work of an unknown place:\n%s", text.c_str());
        wrong = 1;
    }
    std::fflush(stdout);
    std::_Exit(wrong);
}
