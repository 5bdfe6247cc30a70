#include <roost/admin/admin.hpp>

#include <roost/observe/metrics.hpp>

#include <exception>

namespace roost::inline ROOST_ABI::admin {

namespace {

using runs = http_routes::runs;

http_reply verdict(bool good, std::string text) { return http_reply::text(good ? 200 : 503, std::move(text) + "\n"); }

// A check that throws counts as false.
bool holds(const settings::check& c) noexcept {
    try {
        return !c || c();
    } catch (...) {
        return false;
    }
}

http_reply index_of(const std::vector<std::string>& paths) {
    std::string page = "<!doctype html>\n<title>roost</title>\n<ul>\n";
    for (const std::string& path : paths) {
        const std::string shown = escape_html(path);
        page.append("<li><a href=\"").append(shown).append("\">").append(shown).append("</a>\n");
    }
    return {200, "text/html; charset=utf-8", page + "</ul>\n"};
}

http_reply metrics_of(const metrics::registry& from, const http_request& asked) {
    const std::string_view accept = asked.header("Accept");
    return {200, std::string(metrics::content_type_for(accept)), metrics::to_text(accept, from)};
}

void measure(const settings& what) {
    if (what.measures()) {
        metrics::enable();
    }
}

http_routes routes_of(const settings& what, http_handler ready, http_handler live) {
    http_routes all = what.pages();
    // Without a check of the program's own, these two never block: they run on the listener's thread.
    all.get("/readyz", std::move(ready), what.ready() ? runs::alone : runs::at_once);
    all.get("/livez", std::move(live), what.live() ? runs::alone : runs::at_once);
    all.get("/metrics", [from = &what.metrics()](const http_request& asked) { return metrics_of(*from, asked); });
    std::vector<std::string> paths;
    for (const auto& [path, route] : all.all()) {
        if (!path.ends_with('*')) {
            paths.push_back(path);
        }
    }
    if (all.find("/") == nullptr) {
        all.get("/", [paths](const http_request&) { return index_of(paths); }, runs::at_once);
    }
    return all;
}

http_reply ready_of(const service::host& h, const settings::check& own) {
    const service::phase p = h.phase();
    if (p != service::phase::running) {
        return verdict(false, "not ready: " + std::string(to_string(p)));
    }
    const bool good = h.is_ready() && holds(own);
    return verdict(good, good ? "ready" : "not ready");
}

// From phase exit on, no executor runs the probe's work. The service is about to end, so it must not be killed for that.
http_reply live_of(const service::host& h, const settings::check& own) {
    const bool good = (h.is_live() || h.phase() >= service::phase::exit) && holds(own);
    return verdict(good, good ? "live" : "not live");
}

std::string link_to(const http_listener& l) { return l.port() != 0 ? "http://" + l.address() : l.address(); }

}  // namespace

server::server(const settings& what, http_listener::notice tell)
    : listener_(what.address(),
                routes_of(
                    what,
                    [own = what.ready()](const http_request&) {
                        const bool good = holds(own);
                        return verdict(good, good ? "ready" : "not ready");
                    },
                    [own = what.live()](const http_request&) {
                        const bool good = holds(own);
                        return verdict(good, good ? "live" : "not live");
                    }),
                what.limits(), std::move(tell)) {
    measure(what);
}

unsigned short serve(service::host& h, const settings& what) {
    try {
        measure(what);
        auto listener = std::make_shared<http_listener>(
            what.address(),
            routes_of(
                what, [&h, own = what.ready()](const http_request&) { return ready_of(h, own); },
                [&h, own = what.live()](const http_request&) { return live_of(h, own); }),
            what.limits(),
            [&h](const std::string& sentence) { h.log(service::severity::warning, "roost: admin: " + sentence); });
        const unsigned short port = listener->port();
        h.log("roost: admin: " + link_to(*listener) + " serves /metrics, /readyz and /livez");
        h.keep(std::move(listener));
        return port;
    } catch (const std::exception& e) {
        h.log(service::severity::error,
              "roost: admin: " + std::string(e.what()) + "; /metrics, /readyz and /livez are not served");
        return 0;
    }
}

void settings::operator()(service::host& h) const { static_cast<void>(serve(h, *this)); }

}  // namespace roost::inline ROOST_ABI::admin
