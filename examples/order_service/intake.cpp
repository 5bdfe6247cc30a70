#include "intake.hpp"

#include "answers.hpp"
#include "counted.hpp"

#include <roost/task/timeout.hpp>

#include <array>

namespace demo {

using namespace roost;
using namespace std::chrono_literals;
using found = request_reader::found;

namespace {

constexpr auto idle_limit = 30s;  // between two requests of a connection
constexpr auto read_limit = 5s;   // from the first byte of a request to its last
constexpr auto write_limit = 5s;
constexpr int backlog = 4096;

// Returns true if the answer went out whole.
task<bool> send(io::tcp_stream& to, const response& what, std::string_view method, bool keep_alive) {
    const std::string head = head_of(what, keep_alive);
    const io::const_buffer body(what.body.data(), method == "HEAD" ? 0 : what.body.size());
    const auto sent = co_await move_on_after(write_limit, to.write_all(head, body));
    co_return sent.has_value() && sent->has_value();
}

// begin first
// Between requests a stop ends the wait. A client that is about to send a request cannot know of the stop. So one more request
// is taken, and answered with Connection: close. Returns false if none comes.
task<bool> read_first(io::tcp_stream& from, request_reader& into, shop& s, const roost::shutdown& stop) {
    auto came = co_await stop.interrupt(from.read_some(into.room()));
    if (!came) {
        came = co_await move_on_after(s.patience, from.read_some(into.room()));
    }
    if (!came || came->transferred() == 0) {
        co_return false;
    }
    into.add(came->transferred());
    co_return true;
}
// end first

// From the first byte on a request is read to its end, also after a stop.
task<found> read_rest(io::tcp_stream& from, request_reader& into) {
    for (;;) {
        const auto n = co_await from.read_some(into.room());
        if (n.transferred() == 0) {
            co_return found::nothing;
        }
        into.add(n.transferred());
        const found what = into.look();
        if (what == found::whole || what == found::fault) {
            co_return what;
        }
    }
}

// One request and its answer. Returns false if the connection ends.
task<bool> serve_one(io::tcp_stream& peer, request_reader& reader, shop& s, const roost::shutdown& stop) {
    found what = reader.look();
    if (what == found::nothing) {
        const bool came = co_await read_first(peer, reader, s, stop);
        if (!came) {
            co_return false;
        }
        what = reader.look();
        if (what == found::nothing) {
            co_return true;  // an empty line
        }
    }
    status objection = status::request_timeout;
    // begin rest
    if (what == found::part) {  // most requests come whole, and need no timer
        const auto rest = co_await move_on_after(read_limit, read_rest(peer, reader));
        what = rest.value_or(found::fault);
    }
    // end rest
    if (what == found::nothing) {
        co_return false;
    }
    if (what == found::fault) {
        objection = reader.objection() != status::ok ? reader.objection() : objection;
        s.counts.bad.add();
        const response sorry(objection, std::string(reason_of(objection)) + "\n");
        static_cast<void>(co_await send(peer, sorry, "", false));
        co_return false;
    }
    const request asked = reader.get();
    const response reply = co_await answer_to(s, asked);
    // Clients are told to go when they can no longer come back: before that they would only queue up at the door.
    const bool keep_alive = asked.keep_alive && s.counts.open.load(std::memory_order_relaxed);
    const bool sent = co_await send(peer, reply, asked.method, keep_alive);
    reader.drop();
    (sent ? s.counts.answered : s.counts.unanswered).add();
    co_return sent&& keep_alive;
}

// begin close
// Reads and drops what the peer still sends, until the peer has closed its side. A close with unread bytes would be a reset,
// which may destroy the answer on its way.
task<> read_away(io::tcp_stream& from) {
    std::array<char, 4096> nothing;
    for (int reads = 0; reads < 16; ++reads) {
        const auto n = co_await from.read_some(nothing);
        if (n.transferred() == 0) {
            co_return;
        }
    }
}
task<> close_gently(io::tcp_stream& s) {
    if (s.shutdown_write()) {
        static_cast<void>(co_await move_on_after(1s, read_away(s)));
    }
    s.close();
}
// end close

task<> session(io::tcp_stream peer, shop& s, const roost::shutdown& stop, [[maybe_unused]] semaphore::permit place) {
    const counted here(s.counts.connections);
    request_reader reader;
    try {
        peer.set_read_limit(idle_limit);
        for (bool more = true; more;) {
            more = co_await serve_one(peer, reader, s, stop);
        }
        co_await close_gently(peer);
    } catch (const std::exception& e) {
        s.host().log(service::severity::warning, std::string("demo: a connection ended: ") + e.what());
    }
}

}  // namespace

std::string intake::listen(std::uint16_t port) {
    auto made = io::tcp_listener::bind(io::endpoint::loopback(port), io::listen_options().backlog(backlog));
    if (made) {
        listener_ = *std::move(made);
        return {};
    }
    if (made.code() == std::errc::address_in_use) {
        return "port " + std::to_string(port) + " is in use already; choose another with --port";
    }
    return "can't listen on 127.0.0.1:" + std::to_string(port) + ": " + made.code().message();
}

void intake::open(shop& s, service::component& door, service::component& sessions) {
    door.launch("accept", accept_all(s, door.shutdown(), sessions));
}

task<> intake::accept_all(shop& s, const roost::shutdown& door, service::component& sessions) {
    const auto serve = [&](io::tcp_stream peer, semaphore::permit place) {
        sessions.launch("session", session(std::move(peer), s, sessions.shutdown(), std::move(place)));
    };
    // begin accept
    for (;;) {
        // A stop ends every wait, also that for a place: else a full server would notice it only when a client leaves.
        auto place = co_await door.interrupt(places_.acquire());
        if (!place) {
            break;
        }
        auto peer = co_await door.interrupt(listener_.accept());
        if (!peer) {
            break;
        }
        if (*peer) {  // else out of descriptors, most likely: the next accept() waits a moment
            serve(**std::move(peer), *std::move(place));
        }
    }
    // A client that connected before the door closes is served, too.
    for (semaphore::permit place = places_.try_acquire(); place; place = places_.try_acquire()) {
        auto peer = co_await move_on_after(1ms, listener_.accept());
        if (!peer || !*peer) {
            break;
        }
        serve(**std::move(peer), std::move(place));
    }
    // end accept
    listener_.close();
    s.counts.open.store(false, std::memory_order_relaxed);
}

}  // namespace demo
