#include <roost/admin/admin.hpp>

#include "raw_client.hpp"

#include <roost/observe/metrics.hpp>
#include <roost/service/service.hpp>
#include <roost/task/sleep.hpp>

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace roost::admin {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// What a service logged.
class memory_log {
public:
    [[nodiscard]] service::options quiet() {
        return service::options().name("shop").signals(false).sink(&memory_log::take, this).total(hours(1));
    }
    [[nodiscard]] std::string text() const {
        const std::lock_guard hold(lock_);
        return text_;
    }
    [[nodiscard]] int count(const std::string& part) const {
        int n = 0;
        const std::string all = text();
        for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
            ++n;
        }
        return n;
    }

private:
    static void take(const service::log_line& line, void* context) noexcept {
        auto& me = *static_cast<memory_log*>(context);
        const std::lock_guard hold(me.lock_);
        me.text_.append(line.text()).append("\n");
    }
    mutable std::mutex lock_;
    std::string text_;
};

// Metrics of a test's own.
class own_metrics {
public:
    own_metrics() { up_.set(1); }
    [[nodiscard]] settings listen() const { return admin::listen(0).metrics(registry_).measure(false); }

private:
    metrics::registry registry_;
    metrics::gauge up_{"up", "Whether it is up.", registry_};
};
http_reply some_page(const http_request&) { return http_reply::text(200, "a page\n"); }

// Returns the port that a log line names. The line is written by another thread.
unsigned short port_in(const memory_log& log) {
    const std::string before = "roost: admin: http://127.0.0.1:";
    for (;;) {
        const std::string all = log.text();
        const std::size_t at = all.find(before);
        if (at != std::string::npos && all.find('\n', at) != std::string::npos) {
            return static_cast<unsigned short>(std::stoi(all.substr(at + before.size())));
        }
        std::this_thread::yield();
    }
}

TEST(admin, OBS_275_a_program_without_a_service) {
    seam::atomic<bool> warm{false};
    const own_metrics m;
    const server door(m.listen().ready([&] { return warm.load(seam::mo::seq_cst); }));
    EXPECT_EQ(status_of(get(door.port(), "/readyz")), 503);
    EXPECT_EQ(body_of(get(door.port(), "/readyz")), "not ready\n");
    warm.store(true, seam::mo::seq_cst);
    EXPECT_EQ(body_of(get(door.port(), "/readyz")), "ready\n");
    EXPECT_EQ(body_of(get(door.port(), "/livez")), "live\n");
    EXPECT_EQ(body_of(get(door.port(), "/metrics")), "# HELP up Whether it is up.\n# TYPE up gauge\nup 1\n");
    EXPECT_EQ(status_of(get(door.port(), "/tree")), 404);
}

TEST(admin, OBS_275_the_index_names_the_pages) {
    const server door(listen(0).get("/a&b", some_page).get("/node/*", some_page));
    const std::string page = get(door.port(), "/");
    EXPECT_TRUE(has(page, "Content-Type: text/html; charset=utf-8\r\n")) << page;
    for (const char* link : {"href=\"/metrics\"", "href=\"/readyz\"", "href=\"/livez\"", "href=\"/a&amp;b\""}) {
        EXPECT_TRUE(has(page, link)) << page;
    }
    EXPECT_FALSE(has(page, "node")) << page;
}

TEST(admin, OBS_290_the_client_chooses_the_format_of_metrics) {
    const own_metrics m;
    const server door(m.listen());
    const std::string plain = get(door.port(), "/metrics");
    EXPECT_TRUE(has(plain, "Content-Type: text/plain; version=0.0.4")) << plain;
    EXPECT_FALSE(has(plain, "# EOF")) << plain;
    const std::string open = get(door.port(), "/metrics",
                                 "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5\r\n");
    EXPECT_TRUE(has(open, "Content-Type: application/openmetrics-text; version=1.0.0")) << open;
    EXPECT_TRUE(open.ends_with("# EOF\n")) << open;
}

TEST(admin, OBS_290_the_registry_of_the_process_is_the_default_and_jobs_are_measured) {
    const bool before = metrics::set_enabled(false);
    {
        const server door(listen(0).measure(false));
        EXPECT_FALSE(metrics::is_enabled());
    }
    const server door(listen(0));
    EXPECT_TRUE(metrics::is_enabled());
    const std::string all = body_of(get(door.port(), "/metrics"));
    EXPECT_TRUE(has(all, "# TYPE roost_run_delay_seconds histogram\n")) << all;
    metrics::set_enabled(before);
}

TEST(admin, OBS_279_a_check_that_throws_counts_as_false) {
    const server door(listen(0).ready([]() -> bool { throw std::runtime_error("no"); }).live([] { return false; }));
    EXPECT_EQ(status_of(get(door.port(), "/readyz")), 503);
    EXPECT_EQ(status_of(get(door.port(), "/livez")), 503);
}

// Asks all three, from inside the service: the listener's thread is none of its workers.
std::string all_three(unsigned short port) {
    std::string seen;
    for (const char* path : {"/readyz", "/livez", "/metrics"}) {
        const std::string reply = get(port, path);
        const std::string body = body_of(reply);
        seen += std::to_string(status_of(reply)) + " " + (has(body, "\nup 1\n") ? "up 1\n" : body);
    }
    return seen;
}

TEST(admin, OBS_276_OBS_277_what_a_service_answers_from_its_start_to_its_end) {
    const own_metrics m;
    memory_log log;
    std::vector<std::string> seen;
    unsigned short port = 0;
    const auto look = [&]() -> task<> {
        seen.push_back(all_three(port));
        co_return;
    };
    const auto serve = [&](service::host& h) -> task<> {
        port = port_in(log);
        seen.push_back(all_three(port));
        h.set_ready();
        seen.push_back(all_three(port));
        h.add("door", service::component_options().intake()).on_stop(look);
        h.add("work").on_stop(look);
        h.add("pool", service::component_options().release()).on_stop(look);
        h.shut_down("enough");
        co_await h.stopping();
    };
    EXPECT_EQ(service::run(serve, log.quiet().attach(m.listen())), 0);
    const std::vector<std::string> expected = {
        "503 not ready\n200 live\n200 up 1\n",
        "200 ready\n200 live\n200 up 1\n",
        "503 not ready: stop intake\n200 live\n200 up 1\n",
        "503 not ready: drain\n200 live\n200 up 1\n",
        "503 not ready: release\n200 live\n200 up 1\n",
    };
    EXPECT_EQ(seen, expected);
    EXPECT_FALSE(raw_client(port).is_connected());
    EXPECT_EQ(log.count("roost: admin: http://127.0.0.1:"), 1);
    EXPECT_EQ(log.count("serves /metrics, /readyz and /livez"), 1);
}

TEST(admin, OBS_276_lame_duck_is_not_ready) {
    const own_metrics m;
    memory_log log;
    std::string seen;
    const auto serve = [&](service::host& h) -> task<> {
        h.set_ready();
        h.shut_down("enough");
        while (h.phase() == service::phase::running) {
            co_await sleep_for(milliseconds(1));
        }
        seen = all_three(port_in(log));
        co_await h.stopping();
    };
    const auto o = log.quiet().budget(service::phase::lame_duck, milliseconds(200)).attach(m.listen());
    EXPECT_EQ(service::run(serve, o), 0);
    EXPECT_EQ(seen, "503 not ready: lame duck\n200 live\n200 up 1\n");
}

TEST(admin, OBS_276_a_service_that_is_not_live_says_so) {
    memory_log log;
    std::string seen;
    const auto serve = [&](service::host& h) -> task<> {
        h.set_ready();
        h.set_live(false);
        seen = body_of(get(port_in(log), "/livez"));
        co_return;
    };
    EXPECT_EQ(service::run(serve, log.quiet().attach(listen(0))), 0);
    EXPECT_EQ(seen, "not live\n");
}

TEST(admin, OBS_278_an_address_that_is_taken_costs_one_line_and_the_service_runs) {
    const server other(listen(0));
    memory_log log;
    const auto serve = [](service::host& h) -> task<> {
        h.set_ready();
        co_return;
    };
    EXPECT_EQ(service::run(serve, log.quiet().attach(listen(other.address()))), 0);
    EXPECT_EQ(log.count("roost: admin:"), 1);
    EXPECT_EQ(log.count("roost: admin: cannot listen on '" + other.address() +
                        "': Address already in use; /metrics, /readyz and /livez are not served\n"),
              1)
        << log.text();
}

TEST(admin, OBS_278_the_root_task_may_serve_and_hears_the_port) {
    memory_log log;
    std::string seen;
    unsigned short port = 0;
    const own_metrics m;
    const auto root = [&](service::host& h) -> task<> {
        port = serve(h, m.listen().ready([] { return false; }));
        h.set_ready();
        seen = all_three(port);
        co_return;
    };
    EXPECT_EQ(service::run(root, log.quiet()), 0);
    EXPECT_EQ(port, port_in(log));
    EXPECT_EQ(seen, "503 not ready\n200 live\n200 up 1\n");
}

TEST(admin, OBS_282_health_is_answered_while_every_worker_and_every_other_handler_is_stuck) {
    memory_log log;
    std::promise<void> release;
    const auto wait = release.get_future().share();
    metrics::registry registry;
    const metrics::collector stuck = registry.add_collector([wait](metrics::samples&) { wait.wait(); });
    std::string seen;
    std::thread probe;
    const auto serve = [&](service::host& h) -> task<> {
        h.set_ready();
        probe = std::thread([&, port = port_in(log)] {
            const raw_client scraper(port);
            scraper.send(get_text("/metrics"));
            seen = body_of(get(port, "/readyz")) + body_of(get(port, "/livez"));
            release.set_value();
        });
        wait.wait();  // the only worker
        co_return;
    };
    const auto o = log.quiet().runtime(runtime_options().workers(1).soft_budget(duration(0)));
    EXPECT_EQ(service::run(serve, service::options(o).attach(listen(0).metrics(registry))), 0);
    probe.join();
    EXPECT_EQ(seen, "ready\nlive\n");
}

}  // namespace
}  // namespace roost::admin
