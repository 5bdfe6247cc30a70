// The flight recorder: a short run is recorded, written to a file, read again and turned into a trace for ui.perfetto.dev.
// With a file as its argument it only converts: `flight_recorder last.roostrec > trace.json`.

#include <roost/roost.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace roost;
using namespace std::chrono_literals;
using observe::recorder;

namespace {

task<> request(pool<int>& database, mutex& accounts) {
    auto connection = (co_await database.acquire("request")).value();
    auto lock = co_await accounts.lock();
    co_await sleep_for(1ms);
}

task<> serve(scope& s, pool<int>& database, mutex& accounts) {
    for (int i = 0; i < 20; ++i) {
        s.launch("request", request(database, accounts));
    }
    co_return;
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Returns how many events of the kind there are.
std::size_t count(const observe::recording& r, observe::recorded_kind kind) {
    std::size_t n = 0;
    for (const observe::recorded_event& e : r.events()) {
        n += e.kind() == kind ? 1 : 0;
    }
    return n;
}

int convert(const char* path) {
    const observe::recording r = observe::read_recording(bytes_of(path));
    if (!r.problem().empty()) {
        std::fprintf(stderr, "%s: %s\n", path, std::string(r.problem()).c_str());
    }
    std::fputs(observe::to_chrome_trace(r).c_str(), stdout);
    return r.problem().empty() ? 0 : 1;
}

// begin record
bool record_a_run(const std::string& path) {
    recorder::start();
    {
        pool<int> database(pool_options(2, "database"), [] { return 1; });
        mutex accounts("accounts");
        runtime threads(runtime_options().workers(2));
        block_on(threads, with_scope(serve, std::ref(database), std::ref(accounts)));
    }
    const observe::recording_written done = recorder::write_file(path.c_str());
    recorder::stop();
    std::printf("%llu records, %llu lost, %llu bytes\n", static_cast<unsigned long long>(done.records()),
                static_cast<unsigned long long>(done.lost()), static_cast<unsigned long long>(done.bytes()));
    return !done.error();
}
// end record

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        return convert(argv[1]);
    }
    const std::string path = (std::filesystem::temp_directory_path() / "flight_recorder_example.roostrec").string();
    bool good = record_a_run(path);
    const observe::recording r = observe::read_recording(bytes_of(path));
    std::filesystem::remove(path);
    const std::size_t requests = count(r, observe::recorded_kind::pool_acquired);
    const std::string trace = observe::to_chrome_trace(r);
    std::printf("%zu requests had a connection; the trace has %zu bytes\n", requests, trace.size());
    good = good && r.problem().empty() && requests == 20 && trace.find("waits for pool 'database'") != std::string::npos;
    return good ? 0 : 1;
}
