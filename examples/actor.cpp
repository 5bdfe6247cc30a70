// An object with work of its own: one body at a time touches its members, and closing it ends all of it.

#include <roost/roost.hpp>

#include <cstdio>
#include <stdexcept>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// begin body
class account {
public:
    // A name for reports may be any text, so the parameter is a node_name.
    account(executor_ref threads, node_name name) : strand_(threads), own_(strand_, name) {
        own_.launch("interest", pay_interest());  // a child of the object, for as long as it is open
    }
    // Runs on the object's executor; the caller resumes on its own.
    task<int> deposit(int amount) { co_return co_await on(own_, add(amount)); }
    task<> close() { return own_.close(); }  // cancels what is bound to the object, and waits for its end

private:
    task<int> add(int amount) { co_return total_ += amount; }
    task<> pay_interest() {
        for (;;) {
            co_await sleep_for(1h);
            total_ += total_ / 100;
        }
    }

    int total_ = 0;  // no lock: the strand runs one body at a time
    serial_executor strand_;
    closing_executor own_;
};
// end body

task<int> use(account& a) {
    auto [first, second] = co_await when_all(a.deposit(10), a.deposit(20));
    const int total = co_await a.deposit(0);
    static_cast<void>(first + second);
    co_return total;
}

task<int> play(runtime& rt) {
    account savings(rt, "savings");
    const int total = co_await use(savings);
    co_await savings.close();
    const auto late = co_await as_outcome(savings.deposit(1));  // cancelled, with the reason `closed`
    std::printf("total %d, then %s\n", total, late.why().to_string().c_str());
    co_return total == 30 && late.why().kind() == reason_kind::closed ? 0 : 1;
}

}  // namespace

int main() {
    runtime rt;
    return block_on(rt, play(rt));
}
