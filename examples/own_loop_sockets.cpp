// Sockets on an event loop of your own: an executor with an epoll_driver.

#include <roost/io/io.hpp>
#include <roost/roost.hpp>

#include <array>
#include <cstdio>
#include <mutex>
#include <string>

using namespace roost;

namespace {

// begin loop
class my_loop final : public executor {
public:
    bool post(ext::work& w) noexcept override {
        const std::lock_guard hold(lock_);
        queue_.push(w);
        driver_.wake();  // the thread of the loop, if it parks
        return true;
    }
    // Returns where descriptors are registered. Called when an operation has to wait.
    ext::reactor* make_reactor(std::error_code& why) noexcept override { return driver_.reactor(why); }

    template <class Done>
    void run_until(Done is_done) {
        while (!is_done()) {
            if (ext::work* w = next()) {
                w->run();
            } else {
                driver_.park(no_deadline);
            }
            driver_.poll();  // a loop with much work may do this once in a while
        }
    }

private:
    ext::work* next() noexcept {
        const std::lock_guard hold(lock_);
        return queue_.pop();
    }

    std::mutex lock_;
    ext::work_list queue_;
    io::epoll_driver driver_;
};
// end loop

task<> answer(io::tcp_listener& door) {
    auto peer = co_await door.accept().or_throw();
    co_await peer.write_all("hello\n").or_throw();
}

task<> ask(io::endpoint server, std::string& heard) {
    auto peer = co_await io::tcp_stream::connect(server).or_throw();
    co_await peer.read_until(heard, "\n").or_throw();
}

}  // namespace

int main() {
    my_loop here;
    owned_scope root(here, scope_options("root").report_failures());
    auto door = io::tcp_listener::bind(io::endpoint::loopback(0)).value();
    std::string heard;
    root.launch("server", answer(door));
    root.launch("client", ask(door.local(), heard));
    root.request_close();
    here.run_until([&root] { return root.is_closed(); });
    std::printf("%s", heard.c_str());
    return heard == "hello\n" ? 0 : 1;
}
