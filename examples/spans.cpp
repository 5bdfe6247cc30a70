// A span per job, for a tracing library: here they are printed.

#include <roost/roost.hpp>

#include <cstdio>

using namespace roost;

namespace {

// begin spans
void begin_span(void*, const observe::job_event& e) noexcept {
    std::printf("start '%.*s' of '%.*s'\n", int(e.name().size()), e.name().data(), int(e.parent_name().size()),
                e.parent_name().data());
}
void end_span(void*, const observe::job_event& e) noexcept {
    const std::string_view how = to_string(e.state());
    std::printf("end '%.*s': %.*s\n", int(e.name().size()), e.name().data(), int(how.size()), how.data());
}
// end spans

task<> load() { co_return; }
task<> page(scope& s) {
    s.launch("header", load());
    s.launch("body", load());
    co_return;
}
task<> request() { co_await with_scope(page); }

}  // namespace

int main() {
    const observe::trace_hooks spans(begin_span, end_span);
    run(request());
}
