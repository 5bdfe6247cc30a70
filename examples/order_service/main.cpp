// The flagship: an order service that sheds no order, whatever happens to it. ./demo --help says what it shows.

#include "admin_door.hpp"
#include "intake.hpp"
#include "load.hpp"
#include "settings.hpp"
#include "shop.hpp"

#include <roost/task/sleep.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

namespace {

using namespace roost;
using namespace std::chrono_literals;

constexpr std::uint64_t failures_wanted = 3;  // of the flaky worker, before a script ends

// Standard output: lines, and below them one line that changes.
class terminal {
public:
    terminal() : tty_(::isatty(1) == 1) {}
    void line(std::string_view text) {
        const std::lock_guard hold(lock_);
        std::string out = shown_ ? "\r\033[K" : "";
        out.append(text).append("\n");
        shown_ = false;
        write(out);
    }
    void status(const std::string& text) {
        const std::lock_guard hold(lock_);
        shown_ = tty_;
        write(tty_ ? "\r\033[K" + text : text + "\n");
    }
    [[nodiscard]] bool is_tty() const noexcept { return tty_; }

private:
    static void write(std::string_view out) {
        std::fwrite(out.data(), 1, out.size(), stdout);
        std::fflush(stdout);
    }
    std::mutex lock_;
    const bool tty_;
    bool shown_ = false;
};

class demo_run {
public:
    demo_run(const demo::settings& s, std::string database)
        : settings_(s), database_(std::move(database)), intake_(s.clients) {}

    [[nodiscard]] int run();

private:
    task<> serve(service::host& h);
    task<> show_status(service::host& h);
    task<> play_script(service::host& h);
    [[nodiscard]] std::string status_text(service::host& h, double rate, double seconds);
    [[nodiscard]] service::options options();
    static void hear(const service::log_line& line, void* context) noexcept;
    void say_in_flight();
    void last_words(std::string_view ledger);
    [[nodiscard]] std::string what_is_wrong(std::string_view ledger) const;

    const demo::settings settings_;
    const std::string database_;
    terminal out_;
    demo::intake intake_;
    demo::load load_;
    std::optional<demo::shop> shop_;
    event never_{"the printer's answer"};
    bool script_failed_ = false;
};

// --- what --stuck and --wedge plant -------------------------------------------------------------------------------------

task<> export_month(event& printer) { co_await printer.wait(); }

task<> spin_for_ever() {
    for (volatile unsigned turns = 0;;) {
        turns = turns + 1;
    }
    co_return;
}

// --- the service ----------------------------------------------------------------------------------------------------------

task<> demo_run::serve(service::host& h) {
    shop_.emplace(database_, h.executor(), h);
    shop_->patience = std::chrono::duration_cast<duration>(std::chrono::duration<double>(settings_.patience));
    // Stopped in the order: door and load, sessions, workers; the database when all of them are gone.
    service::component& storage = h.add("storage", service::component_options().release());
    service::component& orders = h.add("orders");
    service::component& sessions = h.add("sessions");
    service::component& clients = h.add("load", service::component_options().intake().optional());
    service::component& door = h.add("door", service::component_options().intake());
    storage.on_stop([this] { return shop_->release(); });
    orders.on_stop([this] { return shop_->stop_taking(); });
    orders.launch("workers", shop_->run_workers());
    if (settings_.stuck) {
        orders.launch("month-end export", export_month(never_));
    }
    if (settings_.wedge) {
        orders.launch("wedged", spin_for_ever());
    }
    intake_.open(*shop_, door, sessions);
    h.main().launch("status line", show_status(h));
    h.set_ready();
    out_.line("demo: http://127.0.0.1:" + std::to_string(intake_.port()) + "  /orders /healthz /readyz /metrics /tree");
    if (settings_.rate > 0) {
        load_.start(h, clients, intake_.port(), settings_.rate, settings_.seconds);
    }
    if (settings_.script) {
        h.main().launch("script", play_script(h));
    }
    co_await h.stopping();
}

std::string demo_run::status_text(service::host& h, double rate, double seconds) {
    const demo::counters& c = shop_->counts;
    const pool_stats pool = shop_->database().stats();
    char text[256];
    std::snprintf(
        text, sizeof text,
        "%6.1f s  %-11s %6.0f/s  clients %-4lld in flight %-4lld queue %3zu/%zu  pool %u/%u  restarts %-4llu orders %llu",
        seconds, h.is_ready() ? "ready" : std::string(to_string(h.phase())).c_str(), rate,
        static_cast<long long>(c.connections.value()), static_cast<long long>(c.in_flight.value()), shop_->queue().size(),
        shop_->queue().capacity(), pool.out, pool.capacity, static_cast<unsigned long long>(c.worker_failures.value()),
        static_cast<unsigned long long>(h.ledger().read().completed()));
    return text;
}

task<> demo_run::show_status(service::host& h) {
    const duration pace = out_.is_tty() ? duration(250ms) : duration(1s);
    const time_point start = now();
    time_point then = start;
    std::uint64_t before = 0;
    while (h.main().shutdown().state() == shutdown_state::running) {
        co_await sleep_for(pace);
        const time_point at = now();
        const std::uint64_t count = shop_->counts.requests.value();
        const double rate = static_cast<double>(count - before) / std::chrono::duration<double>(at - then).count();
        out_.status(status_text(h, rate, std::chrono::duration<double>(at - start).count()));
        before = count;
        then = at;
    }
}

// Ends the program under load, when the flaky worker has failed often enough, as an operator would: with a signal.
task<> demo_run::play_script(service::host& h) {
    const time_point start = now();
    const auto at_least = std::chrono::duration<double>(settings_.seconds * 0.75);
    const auto at_most = std::chrono::duration<double>(settings_.seconds * 0.75 + 30);
    for (;;) {
        co_await sleep_for(20ms);
        const auto passed = now() - start;
        const bool failed_enough = shop_->counts.worker_failures.value() >= failures_wanted || settings_.rate == 0;
        if ((passed >= at_least && failed_enough) || passed >= at_most) {
            break;
        }
    }
    h.log("demo: the script sends SIGTERM");
    ::kill(::getpid(), SIGTERM);
}

service::options demo_run::options() {
    service::options o;
    o.name("demo").sink(hear, this).budget(service::phase::lame_duck, 300ms);
    if (settings_.stuck || settings_.wedge) {
        o.total(12s).budget(service::phase::drain, 6s);
    }
    o.runtime(runtime_options().workers(2).name("demo"));
    demo::add_admin_door(o, settings_.admin);
    return o;
}

void demo_run::hear(const service::log_line& line, void* context) noexcept {
    auto& self = *static_cast<demo_run*>(context);
    try {
        if (line.text().starts_with("ledger: ")) {
            self.last_words(line.text());
        } else {
            self.out_.line(line.to_string());
            if (self.shop_ && line.text().find(": shutting down") != std::string_view::npos) {
                self.say_in_flight();
            }
        }
    } catch (...) {
        std::fwrite(line.text().data(), 1, line.text().size(), stdout);  // no memory for more
    }
}

// What the signal found.
void demo_run::say_in_flight() {
    const demo::counters& c = shop_->counts;
    out_.line("demo: " + std::to_string(std::lround(c.connections.value())) + " clients are connected, " +
              std::to_string(std::lround(c.in_flight.value())) + " requests are in flight");
}

// The ledger comes last, also when the service is forced to die.
void demo_run::last_words(std::string_view ledger) {
    if (shop_) {
        const demo::counters& c = shop_->counts;
        out_.line("intake: requests=" + std::to_string(c.requests.value()) +
                  " answered=" + std::to_string(c.answered.value()) + " unanswered=" + std::to_string(c.unanswered.value()) +
                  " connections=" + std::to_string(std::lround(c.connections.value())) +
                  " bad=" + std::to_string(c.bad.value()) + " refused=" + std::to_string(c.refused.value()) +
                  " late=" + std::to_string(c.late.value()) + " failed=" + std::to_string(c.spoilt.value()));
    }
    const demo::load_counts& l = load_.counts;
    if (settings_.rate > 0) {
        out_.line("load: sent=" + std::to_string(l.sent) + " answered=" + std::to_string(l.answered) +
                  " created=" + std::to_string(l.created) + " broken=" + std::to_string(l.broken));
    }
    if (const std::string wrong = settings_.script ? what_is_wrong(ledger) : std::string(); !wrong.empty()) {
        script_failed_ = true;
        out_.line("demo: the script failed: " + wrong);
    }
    out_.line(ledger);
}

// What a script promises beyond the exit code.
std::string demo_run::what_is_wrong(std::string_view ledger) const {
    const demo::load_counts& l = load_.counts;
    if (l.sent != l.answered || l.broken != 0) {
        return "a request was not answered";
    }
    if (settings_.rate > 0 && shop_->counts.worker_failures.value() < failures_wanted) {
        return "the flaky worker failed fewer than " + std::to_string(failures_wanted) + " times";
    }
    if (settings_.rate > 0 && l.created == 0) {
        return "no order was stored";
    }
    return ledger.ends_with(" lost=0") ? "" : "the ledger does not say lost=0";
}

int demo_run::run() {
    if (const std::string problem = intake_.listen(settings_.port); !problem.empty()) {
        std::fprintf(stderr, "./demo: %s\n", problem.c_str());
        return 2;
    }
    const int code = service::run([this](service::host& h) { return serve(h); }, options());
    return code == 0 && script_failed_ ? 1 : code;
}

// --- before it starts -------------------------------------------------------------------------------------------------------

void allow_many_connections() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// A file that can be written: the one that was asked for, or a temporary one, removed when the program ends.
class database_file {
public:
    explicit database_file(const std::string& wanted) : path_(wanted), temporary_(wanted.empty()) {
        if (temporary_) {
            const char* folder = std::getenv("TMPDIR");
            path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/roost-demo-XXXXXX";
        }
        const int file = temporary_ ? ::mkstemp(path_.data()) : ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) {
            problem_ = "can't write the database '" + path_ + "': " + std::strerror(errno) + "; choose another with --db";
            temporary_ = false;
            return;
        }
        ::close(file);
        if (const std::string why = demo::prepare(path_); !why.empty()) {
            problem_ = "can't write the database '" + path_ + "': " + why + "; choose another with --db";
        }
    }
    database_file(const database_file&) = delete;
    database_file& operator=(const database_file&) = delete;
    ~database_file() {
        for (const char* end : {"", "-journal", "-wal", "-shm"}) {
            if (temporary_) {
                ::unlink((path_ + end).c_str());
            }
        }
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    std::string path_;
    bool temporary_;
    std::string problem_;
};

}  // namespace

int main(int count, char** words) {
    demo::settings settings;
    std::string problem;
    switch (demo::parse(count, words, settings, problem)) {
        case demo::parsed::help: std::fputs(demo::help_text(), stdout); return 0;
        case demo::parsed::bad: std::fprintf(stderr, "./demo: %s\n", problem.c_str()); return 2;
        case demo::parsed::run: break;
    }
    const database_file database(settings.database);
    if (!database.problem().empty()) {
        std::fprintf(stderr, "./demo: %s\n", database.problem().c_str());
        return 2;
    }
    allow_many_connections();
    metrics::enable();  // also for /metrics of the service's own door
    demo_run demo(settings, database.path());
    return demo.run();
}
