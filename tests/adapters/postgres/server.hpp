#pragma once

// A private PostgreSQL server on loopback, from the installed binaries, in a temporary folder. Tests start it, kill it and
// start it again. PostgreSQL refuses to run as root, so root becomes `postgres` or `nobody` for it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace postgres_testing {

class server {
public:
    // The one server of this program; null when PostgreSQL is not installed.
    static server* get() {
        static std::optional<server> only;
        static const bool found = [] {
            const std::string where = find_binaries();
            if (!where.empty()) {
                only.emplace(where);
            }
            return only && only->is_set_up_;
        }();
        return found ? &*only : nullptr;
    }

    explicit server(std::string binaries) : binaries_(std::move(binaries)) {
        std::string name = (std::filesystem::temp_directory_path() / "roost_postgres_XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        if (const passwd* user = ::geteuid() == 0 ? find_user() : nullptr) {
            uid_ = user->pw_uid;
            gid_ = user->pw_gid;
            static_cast<void>(::chown(folder_.c_str(), uid_, gid_));
        }
        port_ = free_port();
        is_set_up_ = run({binaries_ + "/initdb", "-D", data(), "-U", "roost", "-A", "trust", "-E", "UTF8", "--locale=C",
                          "--no-sync", "--no-instructions"});
    }
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    ~server() {
        kill(SIGQUIT);
        std::filesystem::remove_all(folder_);
    }

    // Until it answers. Does nothing when it runs.
    bool start() {
        if (child_ > 0) {
            return true;
        }
        child_ = spawn({binaries_ + "/postgres", "-D", data(), "-h", "127.0.0.1", "-p", std::to_string(port_), "-k", folder_,
                        "-c", "fsync=off", "-c", "max_connections=40", "-c", "autovacuum=off", "-c", "logging_collector=off",
                        "-c", "shared_buffers=8MB"});
        for (int i = 0; i < 600; ++i) {
            if (run({binaries_ + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", std::to_string(port_)})) {
                return true;
            }
            ::usleep(50000);
        }
        return false;
    }
    // SIGQUIT: at once, without goodbye; SIGINT: tells its clients; SIGTERM: waits for them.
    void kill(int how) {
        if (child_ > 0) {
            ::kill(child_, how);
            ::waitpid(child_, nullptr, 0);
            child_ = -1;
        }
    }
    // Connections and cancel requests are not accepted meanwhile; running statements continue.
    void pause() { ::kill(child_, SIGSTOP); }
    void go_on() { ::kill(child_, SIGCONT); }

    [[nodiscard]] std::string conninfo(const std::string& application = "roost") const {
        return "host=127.0.0.1 port=" + std::to_string(port_) +
               " user=roost dbname=postgres sslmode=disable gssencmode=disable application_name=" + application;
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    static std::string find_binaries() {
        const std::filesystem::path installed = "/usr/lib/postgresql";
        std::string best;
        if (std::filesystem::is_directory(installed)) {
            for (const auto& version : std::filesystem::directory_iterator(installed)) {
                if (std::filesystem::exists(version.path() / "bin/initdb") && version.path().string() > best) {
                    best = version.path().string();
                }
            }
        }
        return best.empty() ? best : best + "/bin";
    }
    static const passwd* find_user() {
        const passwd* user = ::getpwnam("postgres");
        return user != nullptr ? user : ::getpwnam("nobody");
    }
    static std::uint16_t free_port() {
        const int s = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        static_cast<void>(::bind(s, reinterpret_cast<sockaddr*>(&address), size));
        static_cast<void>(::getsockname(s, reinterpret_cast<sockaddr*>(&address), &size));
        ::close(s);
        return ntohs(address.sin_port);
    }
    [[nodiscard]] std::string data() const { return folder_ + "/data"; }

    pid_t spawn(const std::vector<std::string>& command) {
        std::vector<char*> argv;
        for (const std::string& word : command) {
            argv.push_back(const_cast<char*>(word.c_str()));
        }
        argv.push_back(nullptr);
        const pid_t child = ::fork();
        if (child == 0) {
            ::setpgid(0, 0);
            if (uid_ != 0) {
                if (::setgroups(0, nullptr) != 0 || ::setgid(gid_) != 0 || ::setuid(uid_) != 0) {
                    ::_exit(126);
                }
            }
            static_cast<void>(::chdir(folder_.c_str()));
            const int log = ::open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            ::dup2(log, 1);
            ::dup2(log, 2);
            ::setenv("LC_ALL", "C", 1);
            ::execv(argv[0], argv.data());
            ::_exit(127);
        }
        ::setpgid(child, child);
        return child;
    }
    bool run(const std::vector<std::string>& command) {
        int status = 1;
        const pid_t child = spawn(command);
        return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    std::string binaries_;
    std::string folder_;
    uid_t uid_ = 0;
    gid_t gid_ = 0;
    std::uint16_t port_ = 0;
    pid_t child_ = -1;
    bool is_set_up_ = false;
};

}  // namespace postgres_testing
