// A key-value server with a line protocol on an io_context with two threads, 500 clients, and SIGTERM in the middle: the server
// ends by itself with exit code 0, and every write that a client saw acknowledged is in the server's journal.
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace net = boost::asio;
using namespace std::chrono_literals;
using net::ip::tcp;
using roost::task;
using roost::use_task;

// --- the server, a process of its own --------------------------------------------------------------------------------------

class store {
public:
    explicit store(std::FILE* journal) : journal_(journal) {}
    // One request line, without its end; returns the answer.
    std::string answer(const std::string& line) {
        const std::lock_guard lock(mutex_);
        const auto first = line.find(' ');
        const auto second = line.find(' ', first + 1);
        if (line.starts_with("SET ") && second != std::string::npos) {
            const std::string key = line.substr(first + 1, second - first - 1);
            values_[key] = line.substr(second + 1);
            std::fprintf(journal_, "%s\n", key.c_str());
            return "OK\n";
        }
        if (line.starts_with("GET ")) {
            const auto found = values_.find(line.substr(4));
            return found == values_.end() ? "NONE\n" : "VALUE " + found->second + "\n";
        }
        return "ERROR\n";
    }

private:
    std::mutex mutex_;
    std::FILE* journal_;
    std::map<std::string, std::string> values_;
};

task<> session(tcp::socket peer, store& kv) {
    std::string unread;
    std::array<char, 1024> data;
    for (;;) {
        const auto [error, n] = co_await peer.async_read_some(net::buffer(data), net::as_tuple(use_task));
        if (error) {
            co_return;  // the client has gone, or the server was asked to stop: nothing is half done here
        }
        unread.append(data.data(), n);
        for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
            const std::string text = kv.answer(unread.substr(0, end));
            unread.erase(0, end + 1);
            const auto [failed, sent] = co_await net::async_write(peer, net::buffer(text), net::as_tuple(use_task));
            if (failed) {
                co_return;
            }
        }
    }
}

task<> accept_all(roost::owned_scope& sessions, tcp::acceptor& door, store& kv) {
    for (;;) {
        auto [error, peer] = co_await door.async_accept(net::as_tuple(use_task));
        if (error) {
            co_return;  // stop
        }
        sessions.launch("session", session(std::move(peer), kv));
    }
}

task<> wait_for(roost::shutdown_completion drained) { co_await drained.wait(); }

task<bool> serve(net::io_context& io, tcp::acceptor& door, store& kv) {
    const roost::shutdown server("kv");
    roost::owned_scope sessions(server.tree_node(), roost::io_executor::of(io),
                                roost::scope_options("sessions").report_failures());
    net::signal_set signals(io, SIGTERM);
    sessions.launch("accept", accept_all(sessions, door, kv));
    co_await signals.async_wait(use_task);
    const bool in_time = co_await roost::move_on_after(60s, wait_for(server.shut_down()));
    if (!in_time) {
        std::fputs(server.report().to_string().c_str(), stderr);
        server.cancel();
    }
    sessions.request_close();
    co_await sessions.join();
    co_return in_time;
}

int server_main(int port_pipe, std::FILE* journal) {
    net::io_context io(2);
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    const unsigned short port = door.local_endpoint().port();
    if (::write(port_pipe, &port, sizeof port) != sizeof port) {
        return 2;
    }
    store kv(journal);
    auto guard = net::make_work_guard(io);
    std::thread second([&] { io.run(); });
    const bool in_time = roost::run(io, serve(io, door, kv));
    guard.reset();
    second.join();
    return in_time && std::fflush(journal) == 0 ? 0 : 3;
}

// --- the clients ---------------------------------------------------------------------------------------------------------------

task<> client(net::io_context& io, tcp::endpoint where, int id, std::vector<std::string>& acknowledged) {
    tcp::socket s(io);
    std::string unread;
    const auto [refused] = co_await s.async_connect(where, net::as_tuple(use_task));
    if (refused) {
        co_return;
    }
    for (int i = 0;; ++i) {
        const std::string key = std::to_string(id) + "." + std::to_string(i);
        const std::string line = "SET " + key + " " + std::to_string(i * i) + "\n";
        const auto [not_sent, sent] = co_await net::async_write(s, net::buffer(line), net::as_tuple(use_task));
        if (not_sent) {
            co_return;
        }
        const auto [no_answer, n] =
            co_await net::async_read_until(s, net::dynamic_buffer(unread), '\n', net::as_tuple(use_task));
        if (no_answer) {
            co_return;
        }
        if (unread.substr(0, n) == "OK\n") {
            acknowledged.push_back(key);
        }
        unread.erase(0, n);
    }
}

task<> all_clients(roost::scope& s, net::io_context& io, tcp::endpoint where, std::vector<std::vector<std::string>>& acks,
                   pid_t server) {
    for (std::size_t id = 0; id < acks.size(); ++id) {
        s.launch("client", client(io, where, static_cast<int>(id), acks[id]));
    }
    for (std::size_t acknowledged = 0; acknowledged < acks.size();) {  // one second, more on a busy machine
        co_await roost::sleep_for(1s);
        acknowledged = 0;
        for (const auto& of_client : acks) {
            acknowledged += of_client.size();
        }
    }
    ::kill(server, SIGTERM);
}
task<> clients(net::io_context& io, tcp::endpoint where, std::vector<std::vector<std::string>>& acks, pid_t server) {
    co_await roost::with_scope(all_clients, std::ref(io), where, std::ref(acks), server);
}

int main() {
    ::alarm(110);
    int port_pipe[2];
    std::FILE* journal = std::tmpfile();
    if (journal == nullptr || ::pipe(port_pipe) != 0) {
        return 2;
    }
    const pid_t server = ::fork();
    if (server == 0) {
        ::alarm(100);
        std::exit(server_main(port_pipe[1], journal));
    }
    unsigned short port = 0;
    if (::read(port_pipe[0], &port, sizeof port) != sizeof port) {
        return 2;
    }
    std::vector<std::vector<std::string>> acks(500);
    net::io_context io;
    roost::run(io, clients(io, tcp::endpoint(net::ip::address_v4::loopback(), port), acks, server));

    int status = 0;
    ::waitpid(server, &status, 0);
    std::set<std::string> written;
    std::rewind(journal);
    for (char key[64]; std::fscanf(journal, "%63s", key) == 1;) {
        written.insert(key);
    }
    std::size_t acknowledged = 0;
    std::size_t lost = 0;
    for (const auto& of_client : acks) {
        acknowledged += of_client.size();
        for (const std::string& key : of_client) {
            lost += written.contains(key) ? 0 : 1;
        }
    }
    const bool exited = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::printf("%zu writes acknowledged, %zu lost, the server's status is %d\n", acknowledged, lost, status);
    return exited && lost == 0 && acknowledged >= acks.size() ? 0 : 1;
}
