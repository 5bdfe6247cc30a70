// A service that logs as JSON, one object per line.

#include <roost/service/service.hpp>

#include <cstdio>
#include <string>

using namespace roost;

namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
}

// begin sink
// A thread of the log's own calls it, one line at a time: no lock is needed, and it may take its time.
void log_as_json(const service::log_line& line, void* context) noexcept {
    auto* out = static_cast<std::FILE*>(context);
    char time[ext::wall_text_size];
    ext::write_wall_time(line.time(), time);
    std::fprintf(out, "{\"time\":\"%.*s\",\"level\":\"%s\",\"message\":%s}\n", static_cast<int>(sizeof time), time,
                 std::string(to_string(line.how())).c_str(), quoted(line.text()).c_str());
}
// end sink

// begin main
task<> serve(service::host& h) {
    h.log("hello");
    h.log(service::severity::warning, "the cache is cold");
    h.set_ready();
    co_return;
}

int serve_with_json() {
    return service::run(serve, service::options().name("shop").sink(log_as_json, stdout).log_buffer(1 << 20));
}
// end main

}  // namespace

int main() { return serve_with_json(); }
