// An accept loop that dies takes the service with it: not ready, shut down with the error, exit code 3; unless its component is optional.
#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
namespace service = roost::service;

namespace {

roost::task<> accept_all() {
    co_await roost::sleep_for(1ms);
    throw std::runtime_error("accept: address in use");
}

roost::task<> serve(service::host& h, const service::component_options& o, bool& was_ready) {
    const roost::job accept = h.add("door", o).launch("accept", accept_all());
    h.set_ready();
    co_await accept.join();
    was_ready = h.is_ready();
    if (was_ready) h.shut_down("the test is over");
    co_await h.stopping();
}

std::string said;
void keep(const service::log_line& line, void*) noexcept { said += line.to_string() + "\n"; }

int run_one(const service::component_options& o, bool& was_ready) {
    said.clear();
    return service::run([&](service::host& h) { return serve(h, o, was_ready); }, service::options().sink(keep));
}

bool wrong(const char* what, int code, bool was_ready) {
    std::printf("%s: exit code %d, %sready after the failure; the log:\n%s", what, code, was_ready ? "" : "not ",
                said.c_str());
    return false;
}

bool has(const char* text) { return said.find(text) != std::string::npos; }

}  // namespace

int main() {
    ::alarm(110);
    bool good = true;
    bool was_ready = false;
    int code = run_one(service::component_options().intake(), was_ready);
    if (code != service::exit_code::component_failed || was_ready || !has("component 'door': job 'accept' (") ||
        !has("dead_component.cpp:") || !has("failed: std::runtime_error: accept: address in use") || !has("shutting down")) {
        good = wrong("a component that is needed", code, was_ready);
    }
    code = run_one(service::component_options().intake().optional(), was_ready);
    if (code != service::exit_code::clean || !was_ready || !has("accept: address in use")) {
        good = wrong("an optional component", code, was_ready);
    }
    return good ? 0 : 1;
}
