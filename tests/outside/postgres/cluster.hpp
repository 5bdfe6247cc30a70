// A private PostgreSQL server on a unix socket in a temporary folder, from the installed binaries. PostgreSQL refuses to run
// as root, so root becomes `postgres` or user 65534 for it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

class cluster {
public:
    cluster() {
        const std::filesystem::path installed = "/usr/lib/postgresql";
        if (std::filesystem::is_directory(installed)) {
            for (const auto& version : std::filesystem::directory_iterator(installed)) {
                if (std::filesystem::exists(version.path() / "bin/initdb") && version.path() / "bin/" > binaries_) {
                    binaries_ = (version.path() / "bin/").string();
                }
            }
        }
        char name[] = "/tmp/roost-cluster-XXXXXX";
        if (!is_installed() || ::mkdtemp(name) == nullptr) {
            return;
        }
        folder_ = name;
        const passwd* user = ::geteuid() != 0                    ? nullptr
                             : ::getpwnam("postgres") != nullptr ? ::getpwnam("postgres")
                                                                 : ::getpwuid(65534);
        if (user != nullptr) {
            uid_ = user->pw_uid;
            gid_ = user->pw_gid;
            static_cast<void>(!::chown(name, uid_, gid_));
        }
        is_set_up_ =
            run({"initdb", "-D", folder_ + "/data", "-U", "roost", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"});
    }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;
    ~cluster() {
        stop();
        if (!folder_.empty()) {
            std::filesystem::remove_all(folder_);
        }
    }

    bool is_installed() const { return !binaries_.empty(); }
    bool is_set_up() const { return is_set_up_; }
    std::string conninfo() const { return "host=" + folder_ + " user=roost dbname=postgres"; }
    int postmaster() const { return child_; }

    bool start() {
        child_ = spawn({"postgres", "-D", folder_ + "/data", "-h", "", "-k", folder_, "-c", "fsync=off", "-c",
                        "max_connections=30", "-c", "autovacuum=off", "-c", "shared_buffers=8MB"});
        for (int i = 0; i < 600; ++i) {
            if (run({"pg_isready", "-q", "-h", folder_})) {
                return true;
            }
            ::usleep(50'000);
        }
        return false;
    }
    // At once, without a word to its clients.
    void stop() {
        if (child_ > 0) {
            ::kill(child_, SIGCONT);
            ::kill(child_, SIGQUIT);
            ::waitpid(child_, nullptr, 0);
            child_ = -1;
        }
    }

private:
    pid_t spawn(std::vector<std::string> command) {
        command.front() = binaries_ + command.front();
        std::vector<char*> argv;
        for (std::string& word : command) {
            argv.push_back(word.data());
        }
        argv.push_back(nullptr);
        const std::string log = folder_ + "/log";
        const pid_t child = ::fork();
        if (child == 0) {
            ::setpgid(0, 0);
            if (uid_ != 0 && (::setgroups(0, nullptr) != 0 || ::setgid(gid_) != 0 || ::setuid(uid_) != 0)) {
                ::_exit(126);
            }
            const int to = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            ::dup2(to, 1);
            ::dup2(to, 2);
            ::execv(argv.front(), argv.data());
            ::_exit(127);
        }
        return child;
    }
    bool run(std::vector<std::string> command) {
        int status = 1;
        const pid_t child = spawn(std::move(command));
        return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    std::string binaries_;
    std::string folder_;
    uid_t uid_ = 0;
    gid_t gid_ = 0;
    pid_t child_ = -1;
    bool is_set_up_ = false;
};
