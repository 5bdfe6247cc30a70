// Cleanup that awaits. It runs however the work ends, also after a cancel, and before the caller resumes.

#include <roost/roost.hpp>

#include <cstdio>
#include <string>

using namespace roost;
using namespace std::chrono_literals;

namespace {

class connection {
public:
    task<> begin() {
        co_await sleep_for(1ms);
        open_ = true;
    }
    task<> commit() {
        co_await sleep_for(1h);  // the server hangs
        open_ = false;
    }
    task<> roll_back_if_open() {
        if (open_) {
            co_await sleep_for(1ms);  // works although the transfer has been cancelled
            open_ = false;
            std::printf("rolled back\n");
            ++rollbacks;
        }
    }
    [[nodiscard]] bool is_open() const { return open_; }
    int rollbacks = 0;

private:
    bool open_ = false;
};

// begin body
task<> transfer(connection& c) {
    co_await c.begin();
    co_await on_exit(&connection::roll_back_if_open, &c);
    co_await c.commit();
}

task<int> serve() {
    connection c;
    const bool done = co_await move_on_after(500ms, transfer(c));
    std::printf("%s, the connection is %s\n", done ? "done" : "given up", c.is_open() ? "open" : "closed");
    co_return !done && !c.is_open() && c.rollbacks == 1 ? 0 : 1;
}
// end body

// begin both
// Either none or both of the two writes. A cancel in between takes effect when the guard is destroyed.
task<> move_money(int& from, int& to) {
    const ignore_guard whole = co_await ignore_cancellation();
    from -= 10;
    co_await sleep_for(1ms);
    to += 10;
}
// end both

task<> move_then_wait(int& from, int& to) {
    co_await move_money(from, to);
    co_await sleep_for(1h);
}

task<int> play() {
    const int wrong = co_await serve();
    int from = 10;
    int to = 0;
    const bool done = co_await move_on_after(1ms, move_then_wait(from, to));
    std::printf("%d and %d\n", from, to);
    co_return wrong == 0 && !done && from + to == 10 ? 0 : 1;
}

}  // namespace

int main() { return run(play()); }
