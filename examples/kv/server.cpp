// A server for clients of Redis. README.md says how to run it, and what it shows.

#include "commands.hpp"

#include <roost/io/io.hpp>
#include <roost/roost.hpp>
#include <roost/service/service.hpp>

#include <sys/resource.h>

#include <cstdio>
#include <map>

namespace {

using namespace roost;
using namespace std::chrono_literals;

constexpr std::size_t portion = 128 << 10;  // so many bytes of replies are sent together

class server {
public:
    std::map<std::string_view, std::int64_t> settings = {
        {"--port", 6379}, {"--admin-port", -1}, {"--workers", 2}, {"--max-connections", 10'000}, {"--idle-seconds", 300}};
    kv::store data;
    semaphore places{0};
    service::host* host = nullptr;
    service::component* connections = nullptr;
};

// What a connection works with. While it waits, the next one of its thread has it. So an idle connection costs little memory.
class workspace {
public:
    kv::request_reader in;
    std::string out;
};
thread_local std::unique_ptr<workspace> spare;

// A close with unread bytes is a reset, which destroys replies on their way. So it reads on until the client is silent.
task<> close_gently(io::tcp_stream& peer) {
    std::array<char, 1024> rest;
    peer.set_read_limit(200ms);
    const auto until = now() + 1s;
    for (bool more = peer.shutdown_write().has_value(); more && now() < until;) {
        const auto n = co_await peer.read_some(rest);
        more = n.transferred() > 0;
    }
}

// The same for a connection that is cancelled, where nothing can be awaited.
void close_at_once(io::tcp_stream* peer) {
    std::array<char, 1024> rest;
    bool more = peer->shutdown_write().has_value();
    for (int i = 0; more && i < 1000; ++i) more = peer->read_some(rest).blocking(0s).transferred() > 0;
}

// Executes all requests that have arrived, and sends their replies together. Returns false if the connection has ended.
task<bool> answer(io::tcp_stream& peer, server& s, workspace& w) {
    const ignore_guard whole = co_await ignore_cancellation();  // what has been read is answered
    const auto got = co_await peer.read_some(w.in.room());
    const time_point arrived = now();
    w.in.filled(got.transferred());
    bool open = got.transferred() > 0;
    for (bool more = open; more && open;) {
        while (w.out.size() < portion && (more = w.in.next())) {
            auto entry = s.host->ledger().accept();
            kv::command(s.data, w.in.request(), arrived, w.out).execute();
            entry.complete();
        }
        if (!more) w.out += w.in.error();
        open = (co_await peer.write_all(w.out)).has_value();
        w.out.clear();
    }
    open = open && w.in.error().empty() && s.connections->shutdown().state() == shutdown_state::running;
    if (!open) co_await close_gently(peer);
    co_return open;
}

task<> serve_client(io::tcp_stream peer, semaphore::permit /*place*/, server& s) {
    peer.set_read_limit(std::chrono::seconds(s.settings.at("--idle-seconds")));
    peer.set_write_limit(std::chrono::seconds(s.settings.at("--idle-seconds")));
    const std::unique_ptr<io::tcp_stream, decltype(&close_at_once)> end(&peer, close_at_once);
    std::unique_ptr<workspace> w;
    for (bool open = true; open;) {
        open = (co_await peer.readable()).has_value();  // a cancel ends the connection here, and nowhere else
        if (!open) break;
        if (!w) w = spare ? std::move(spare) : std::make_unique<workspace>();
        open = co_await answer(peer, s, *w);
        if (w->in.is_idle() && w->in.capacity() + w->out.capacity() > 2 * portion) w.reset();  // grown by something large
        if (w && w->in.is_idle()) spare = std::move(w);
    }
}

task<> refuse(io::tcp_stream peer) { static_cast<void>(co_await peer.write_some("-ERR max number of clients reached\r\n")); }

task<> serve_or_refuse(io::tcp_stream peer, server& s) {
    semaphore::permit place = s.places.try_acquire();
    return place ? serve_client(std::move(peer), std::move(place), s) : refuse(std::move(peer));
}

// Probes and metrics over HTTP: each page shows the metrics, and the status answers a probe.
task<> serve_admin(io::tcp_stream peer, server& s) {
    std::string head;
    static_cast<void>(co_await move_on_after(1s, peer.read_until(head, "\r\n\r\n")));
    const bool is_bad = head.starts_with("GET /readyz ") ? !s.host->is_ready() : !s.host->is_live();
    std::string text = is_bad ? "HTTP/1.0 503 Service Unavailable\r\n\r\n" : "HTTP/1.0 200 OK\r\n\r\n";
    text += "kv_connections " + std::to_string(s.places.in_use()) + "\nkv_keys " + std::to_string(s.data.size()) +
            "\nkv_commands_total " + std::to_string(s.host->ledger().read().completed()) + "\n";
    static_cast<void>(co_await peer.write_all(text));
}

// Starts a job for each connection, until the component is stopped.
task<> accept_all(io::tcp_listener door, const roost::shutdown& stop, service::component& jobs,
                  task<> (*serve)(io::tcp_stream, server&), server& s) {
    for (;;) {
        auto peer = co_await stop.interrupt(door.accept());
        if (!peer) co_return;
        if (*peer) jobs.launch("connection", serve(**std::move(peer), s));  // else no descriptor is left, and accept() waits
    }
}

io::tcp_listener listen(const server& s, const char* port) {
    auto door = io::tcp_listener::bind(io::endpoint::loopback(static_cast<std::uint16_t>(s.settings.at(port)))).value();
    std::printf("%s %u\n", port + 2, door.local().port());
    std::fflush(stdout);
    return door;
}

// Frees the memory of expired entries.
task<> sweep(kv::store& data) {
    for (;;) {
        co_await sleep_for(10s);
        for (std::size_t i = 0; i < kv::store::shards; ++i) {
            data.sweep(i, now());
            co_await yield();
        }
    }
}

// In the order of their end: door, connections, admin.
task<> serve_all(scope& mine, service::host& h, server& s) {
    service::component& door = h.add("door", service::component_options().intake());
    service::component& connections = h.add("connections", service::component_options().optional());
    service::component& admin = h.add("admin", service::component_options().release());
    s.host = &h;
    s.connections = &connections;
    connections.on_stop([&connections]() -> task<> {
        co_await sleep_for(50ms);  // busy connections see the stop; this ends those that wait
        connections.jobs().cancel();
    });
    mine.daemon("sweep", sweep(s.data));
    door.launch("accept", accept_all(listen(s, "--port"), door.shutdown(), connections, serve_or_refuse, s));
    if (s.settings.at("--admin-port") >= 0) {
        admin.launch("accept", accept_all(listen(s, "--admin-port"), admin.shutdown(), admin, serve_admin, s));
    }
    h.set_ready();
    co_await h.stopping();
}

}  // namespace

int main(int argc, char** argv) {
    server s;
    for (int i = 1; i < argc; i += 2) {
        const auto value = kv::to_integer(i + 1 < argc ? argv[i + 1] : "");
        if (!value || !s.settings.contains(argv[i])) {
            std::fputs("usage: kv [--port N] [--admin-port N] [--workers N] [--max-connections N] [--idle-seconds N]\n",
                       stderr);
            return service::exit_code::bad_options;
        }
        s.settings[argv[i]] = *value;
    }
    s.places.add_permits(static_cast<std::uint32_t>(s.settings["--max-connections"]));
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    const auto threads = runtime_options().workers(static_cast<unsigned>(s.settings["--workers"])).name("kv");
    const auto root = [&](service::host& h) { return as_task(with_scope(serve_all, std::ref(h), std::ref(s))); };
    return service::run(root, service::options().name("kv").runtime(threads));
}
