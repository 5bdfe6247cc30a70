// A service whose health and metrics are served on a listener of their own. It counts orders, looks at /metrics and ends.

#include <roost/admin/admin.hpp>
#include <roost/io/io.hpp>
#include <roost/observe/metrics.hpp>
#include <roost/service/service.hpp>

#include <cstdio>
#include <string>

using namespace roost;

namespace {

// begin metrics
const metrics::counter accepted("shop_orders_total", "Orders accepted.");
const metrics::histogram took("shop_packing_seconds", "From an order to its parcel.");
const metrics::labelled<metrics::gauge> stock("shop_stock", "Packets in the store.", {"item"});

void pack_order(duration packing) {
    accepted.add();
    took.record(packing);
    stock.with({"tea"}).add(-1);
}
// end metrics

// begin main
task<> serve(service::host& h) {
    h.set_ready();  // from now on /readyz answers 200, until shutdown begins
    co_await h.stopping();
}

int serve_orders() { return service::run(serve, service::options().name("shop").attach(admin::listen("*:9090"))); }
// end main

task<std::string> get(unsigned short port, std::string path) {
    auto peer = co_await io::tcp_stream::connect(io::endpoint::loopback(port)).or_throw();
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    co_await peer.write_all(request).or_throw();
    std::string reply(65536, ' ');
    const auto end = co_await peer.read_exactly(reply);  // the listener closes the connection behind its reply
    reply.resize(end.transferred());
    co_return reply;
}

bool is_right = false;
task<> look_at_itself(service::host& h) {
    stock.with({"tea"}).set(100);
    pack_order(std::chrono::milliseconds(250));
    const unsigned short port = admin::serve(h, admin::listen(0).ready([] { return stock.with({"tea"}).value() > 0; }));
    h.set_ready();
    const std::string ready = co_await get(port, "/readyz");
    const std::string all = co_await get(port, "/metrics");
    std::printf("%s\n", all.substr(all.find("# HELP shop_")).c_str());
    is_right = ready.find(" 200 ") != std::string::npos && all.find("\nshop_stock{item=\"tea\"} 99\n") != std::string::npos;
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1) return serve_orders();
    const int code = service::run(look_at_itself, service::options().name("shop"));
    return is_right ? code : 1;
}
