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

}  // namespace

int main() { return run(serve()); }
