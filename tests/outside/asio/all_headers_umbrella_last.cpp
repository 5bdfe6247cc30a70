// Every optional header in one file with roost.hpp, which comes last, under using directives for std and roost.

// clang-format off
#include <roost/io/buffer.hpp>
#include <roost/io/descriptor.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/io/epoll_driver.hpp>
#include <roost/io/error.hpp>
#include <roost/io/io.hpp>
#include <roost/io/pipe.hpp>
#include <roost/io/resolve.hpp>
#include <roost/io/result.hpp>
#include <roost/io/stream.hpp>
#include <roost/io/tcp_listener.hpp>
#include <roost/io/tcp_stream.hpp>
#include <roost/io/udp_socket.hpp>
#include <roost/io/unix_listener.hpp>
#include <roost/io/unix_stream.hpp>

#include <roost/testing/duplex.hpp>
#include <roost/testing/explore.hpp>
#include <roost/testing/manual_executor.hpp>
#include <roost/testing/names.hpp>
#include <roost/testing/sequencer.hpp>
#include <roost/testing/suspended.hpp>
#include <roost/testing/virtual_time.hpp>

#if __has_include(<roost/adapters/postgres/connection.hpp>)
#include <roost/adapters/postgres/connection.hpp>
#include <roost/adapters/postgres/poller.hpp>
#include <roost/adapters/postgres/values.hpp>
#endif

#if __has_include(<roost/adapters/sqlite/connection.hpp>)
#include <roost/adapters/sqlite/connection.hpp>
#include <roost/adapters/sqlite/values.hpp>
#endif

#include <roost/asio/asio_driver.hpp>
#include <roost/asio/async_run.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/asio/use_task.hpp>

#if __has_include(<roost/service/budgets.hpp>)
#include <roost/admin/admin.hpp>
#include <roost/admin/body_stream.hpp>
#include <roost/admin/http.hpp>
#include <roost/admin/http_address.hpp>
#include <roost/admin/http_listener.hpp>
#include <roost/service/attachment.hpp>
#include <roost/service/budgets.hpp>
#include <roost/service/component.hpp>
#include <roost/service/host.hpp>
#include <roost/service/ledger.hpp>
#include <roost/service/log_sink.hpp>
#include <roost/service/phase.hpp>
#include <roost/service/service.hpp>
#include <roost/service/service_options.hpp>
#include <roost/service/signals.hpp>
#endif

#include <roost/roost.hpp>
// clang-format on

using namespace std;  // NOLINT
using namespace roost;  // NOLINT

// What std or the C headers name, too, is qualified; the rest needs no qualification.
namespace {

task<int> doubled(int n) {
    co_await yield();
    co_return 2 * n;
}

}  // namespace

int main() {
    boost::asio::io_context io;
    roost::mutex ours;  // std has a mutex, too
    const auto held = ours.try_lock();
    const roost::shutdown server("server");  // POSIX has a function of this name
    return held && run(io, doubled(21)) == 42 ? 0 : 1;
}
