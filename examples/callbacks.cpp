// A result that a callback delivers, on a thread of another library: the scope waits for it as for any other child.

#include <roost/roost.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

// A library that knows no coroutines. It calls back on a thread of its own.
class resolver {
public:
    void look_up(std::string host, std::chrono::milliseconds takes, std::function<void(std::string)> done) {
        threads_.emplace_back([host = std::move(host), takes, done = std::move(done)] {
            std::this_thread::sleep_for(takes);
            done("address of " + host);
        });
    }

private:
    std::vector<std::jthread> threads_;
};

std::atomic<int> too_late{0};

// begin body
task<std::string> address_of(scope& s, resolver& dns, std::string host, std::chrono::milliseconds takes) {
    // `answer` is the child of the scope, `setter` the other end: it may move to any thread.
    auto [answer, setter] = make_promise<std::string>(s, host, external_cancel::abandon);
    auto shared = std::make_shared<promise<std::string>>(std::move(setter));  // a std::function has to be copyable
    dns.look_up(host, takes, [shared](std::string address) {
        if (!shared->set_value(std::move(address))) {
            ++too_late;  // the child was cancelled before: the value is destroyed
        }
    });
    co_return co_await std::move(answer);
}

task<std::string> resolve(resolver& dns, std::string host, std::chrono::milliseconds takes) {
    auto found = co_await move_on_after(250ms, with_scope(address_of, std::ref(dns), host, takes));
    co_return found ? *found : "no address of " + host;
}
// end body

task<int> play(resolver& dns) {
    const std::string near = co_await resolve(dns, "near", 0ms);
    const std::string far = co_await resolve(dns, "far", 600ms);
    std::printf("%s, %s\n", near.c_str(), far.c_str());
    co_return near == "address of near" && far == "no address of far" ? 0 : 1;
}

}  // namespace

int main() {
    int wrong = 0;
    {
        resolver dns;
        wrong = run(play(dns));
    }
    std::printf("too late: %d\n", too_late.load());
    return wrong == 0 && too_late == 1 ? 0 : 1;
}
