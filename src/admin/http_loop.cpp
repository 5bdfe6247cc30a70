// id  operation             order    pairs  carries               fails in
// L1  ending: store, load   seq_cst  L1     nothing but itself    (no model: the listener sleeps in the kernel)

#include <roost/admin/detail/http_loop.hpp>

#include <roost/admin/detail/exchange.hpp>
#include <roost/base/format_duration.hpp>

#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace roost::inline ROOST_ABI::admin::detail {

namespace {

constexpr duration pause_of_accept = std::chrono::milliseconds(100);  // without a descriptor
constexpr duration last_moment = std::chrono::seconds(1);             // for what is on its way at the end
constexpr duration step_of_winding_up = std::chrono::milliseconds(10);
constexpr duration between_looks = std::chrono::milliseconds(500);
constexpr duration between_notices = std::chrono::minutes(1);

}  // namespace

template <class Sentence>
void http_loop::tell(const Sentence& sentence) const noexcept {
    try {
        if (tell_) {
            tell_(sentence());
        }
    } catch (...) {}  // no memory for the sentence
}

http_loop::http_loop(const http_address& at, http_routes routes, const http_limits& limits, http_listener::notice tell)
    : routes_(std::move(routes)),
      limits_(limits),
      tell_(std::move(tell)),
      socket_(at),
      address_(socket_.name()),
      port_(socket_.port()),
      inbox_(std::make_shared<inbox>()),
      clients_(limits.connections() + accepts_per_turn) {
    for (const auto& [path, route] : routes_.all()) {
        if (route.how == http_routes::runs::alone) {
            workers_.emplace(&route, std::make_unique<route_worker>(route.handler, inbox_));
        }
    }
    daemon_.reset(start_daemon());
    thread_ = thread([this] { run(); });
}

http_loop::~http_loop() {
    ending_.store(true, mo::seq_cst);  // L1
    inbox_->ring();
    thread_.join();
    const time_point limit =
        deadline_after(now(), last_moment / 10);  // the moment has passed; a thread that is done ends soon
    for (const auto& [path, route] : routes_.all()) {
        if (const auto w = workers_.find(&route); w != workers_.end() && !w->second->finish(limit)) {
            tell([&] { return "the handler of '" + path + "' has not returned: its thread is left behind"; });
        }
    }
    inbox_->close();
}

route_worker* http_loop::worker_of(const http_routes::route& r) noexcept { return workers_.find(&r)->second.get(); }

// --- the thread --------------------------------------------------------------------------------------------------------------

void http_loop::run() noexcept {
    while (!ending_.load(mo::seq_cst)) {  // L1
        run_once(no_deadline);
    }
    wind_up();
}

void http_loop::run_once(time_point until) noexcept {
    sleep(until);
    take_posted();
    MHD_run(daemon_.get());  // first what has come: no client is late because this thread was
    const time_point at = now();
    accept_some(at);
    enforce(at);
    look_for_gone(at);
    MHD_run(daemon_.get());
}

void http_loop::sleep(time_point until) noexcept {
    const MHD_DaemonInfo* const info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD);
    const time_point at = now();
    const bool accepts = socket_.fd() >= 0 && at >= accept_again_;
    std::array<pollfd, 3> all = {{{inbox_->bell().fd(), POLLIN, 0}, {info->epoll_fd, POLLIN, 0}, {socket_.fd(), POLLIN, 0}}};
    until = std::min({until, clients_.next_deadline(), next_look_});
    if (socket_.fd() >= 0 && !accepts) {
        until = std::min(until, accept_again_);
    }
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (MHD_get_timeout(daemon_.get(), &milliseconds) == MHD_YES) {
        until = std::min(
            until, deadline_after(at, std::chrono::milliseconds(std::min<MHD_UNSIGNED_LONG_LONG>(milliseconds, 60'000))));
    }
    timespec limit{};
    if (until > at && until != no_deadline) {
        limit.tv_sec = static_cast<std::time_t>((until - at).count() / 1'000'000'000);
        limit.tv_nsec = static_cast<long>((until - at).count() % 1'000'000'000);
    }
    static_cast<void>(::ppoll(all.data(), accepts ? 3 : 2, until == no_deadline ? nullptr : &limit, nullptr));
    if ((all[0].revents & POLLIN) != 0) {
        inbox_->bell().sleep_until(time_point::min());  // takes the ring away
    }
}

void http_loop::take_posted() noexcept {
    while (const std::shared_ptr<parcel> p = inbox_->take()) {
        if (exchange* const owner = p->owner()) {
            owner->wake();
        }
    }
}

void http_loop::accept_some(time_point at) noexcept {
    for (unsigned n = 0; n < accepts_per_turn && socket_.fd() >= 0 && at >= accept_again_ && !clients_.is_full(); ++n) {
        const int fd = socket_.accept();
        if (fd >= 0) {
            add(fd, at);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            accept_again_ = deadline_after(at, pause_of_accept);
        } else if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO) {
            return;
        }
    }
}

// A new client is always served. So a client that opens connections and sends nothing cannot keep others out.
void http_loop::add(int fd, time_point at) noexcept {
    if (clients_.live() >= limits_.connections()) {
        if (client* const victim = clients_.to_drop(at)) {
            drop(*victim);
        }
    }
    try {
        next_client_ = std::make_unique<client>(fd, at, deadline_after(at, limits_.read_within()));
    } catch (...) {
        ::close(fd);
        return;
    }
    static const sockaddr none{};
    static_cast<void>(MHD_add_connection(daemon_.get(), fd, &none, sizeof none));  // closes it if it fails
    next_client_.reset();
}

void http_loop::drop(client& c) noexcept {
    if (exchange* const request = c.request()) {
        request->end_stream();
        request->give_up("this connection makes room for another");
    }
    ::shutdown(c.fd(), SHUT_RDWR);
    c.enter(client_phase::dropped, no_deadline);
}

void http_loop::enforce(time_point at) noexcept {
    while (client* const c = clients_.overdue(at)) {
        if (c->phase() == client_phase::handling) {
            give_up(*c, at);
        } else {
            drop(*c);
        }
    }
}

// The client receives 503, and the route's thread goes on with its call.
void http_loop::give_up(client& c, time_point at) noexcept {
    c.enter(client_phase::sending, deadline_after(at, limits_.send_within()));
    c.request()->give_up("the handler of this page has not returned in time");
    if (at >= stuck_told_) {
        stuck_told_ = deadline_after(at, between_notices);
        tell([&] {
            return "the handler of '" + path_of(c.request()->worker()) + "' has not returned for " +
                   format_duration(c.request()->stuck_for(at));
        });
    }
}

// Ends the streams of clients that have gone while there is nothing to send.
void http_loop::look_for_gone(time_point at) noexcept {
    if (next_look_ != no_deadline && at < next_look_) {
        return;
    }
    next_look_ = no_deadline;
    for (const std::unique_ptr<client>& c : clients_.all()) {
        if (c->phase() != client_phase::streaming) {
            continue;
        }
        next_look_ = deadline_after(at, between_looks);
        pollfd end{c->fd(), POLLRDHUP, 0};  // also behind bytes that are not read
        if (c->request() != nullptr && c->request()->is_suspended() && ::poll(&end, 1, 0) != 0) {
            drop(*c);
        }
    }
}

void http_loop::wind_up() noexcept {
    socket_.close();
    for (const std::unique_ptr<client>& c : clients_.all()) {
        if (c->phase() == client_phase::reading || c->phase() == client_phase::streaming) {
            drop(*c);
        }
    }
    const time_point limit = deadline_after(now(), last_moment);
    while (clients_.size() != 0 && now() < limit) {
        run_once(std::min(limit, deadline_after(now(), step_of_winding_up)));
    }
    for (const std::unique_ptr<client>& c : clients_.all()) {
        if (c->phase() != client_phase::dropped) {
            drop(*c);
        }
    }
    run_once(time_point::min());
    for (const auto& [route, worker] : workers_) {
        worker->begin_end();
    }
    daemon_.reset();
}

// Not the target of a request, which a client wrote.
std::string http_loop::path_of(const route_worker* w) const {
    for (const auto& [path, route] : routes_.all()) {
        const auto found = workers_.find(&route);
        if (found != workers_.end() && found->second.get() == w) {
            return path;
        }
    }
    return {};
}

}  // namespace roost::inline ROOST_ABI::admin::detail

namespace roost::inline ROOST_ABI::admin {

http_listener::http_listener(const http_address& at, http_routes routes, const http_limits& limits, notice tell)
    : loop_(std::make_unique<detail::http_loop>(at, std::move(routes), limits, std::move(tell))) {}
http_listener::~http_listener() = default;
const std::string& http_listener::address() const noexcept { return loop_->address(); }
unsigned short http_listener::port() const noexcept { return loop_->port(); }

}  // namespace roost::inline ROOST_ABI::admin
