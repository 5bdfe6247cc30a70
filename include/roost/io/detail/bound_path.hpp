#pragma once

// The file of a Unix socket, which outlives the process that bound it unless it is removed.

#include <roost/io/endpoint.hpp>

#include <cstdint>
#include <utility>

namespace roost::inline ROOST_ABI::io::detail {

// While it lives, no other unix_listener binds in that directory. Otherwise two that find a stale file could both replace it, or
// one could take the other's new file for stale before listen() was called. Waits at most 100 ms for the others. After that, or
// if the directory cannot be opened, the caller binds without the lock.
class path_lock {
public:
    explicit path_lock(const endpoint& at) noexcept;
    path_lock(const path_lock&) = delete;
    path_lock& operator=(const path_lock&) = delete;
    ~path_lock();

private:
    int directory_ = -1;
};

// The file of a listener. remove() removes it, if it still belongs to that listener and this process bound it. The destructor
// removes nothing.
class bound_path {
public:
    bound_path() noexcept = default;
    // Requires that the calling process has just bound a socket to `at`. An abstract name has no file.
    explicit bound_path(const endpoint& at) noexcept;
    bound_path(bound_path&& other) noexcept
        : at_(other.at_), device_(other.device_), inode_(other.inode_), process_(std::exchange(other.process_, 0)) {}
    bound_path& operator=(bound_path&& other) noexcept {
        at_ = other.at_;
        device_ = other.device_;
        inode_ = other.inode_;
        process_ = std::exchange(other.process_, 0);
        return *this;
    }
    ~bound_path() = default;

    void remove() noexcept;

    // Removes the file of a socket on which no process listens. Returns true if there is no file now; false if a process
    // listens, or the file is no socket.
    // Requires a path_lock.
    [[nodiscard]] static bool remove_stale(const endpoint& at) noexcept;

private:
    endpoint at_;
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;
    int process_ = 0;  // 0: nothing to remove
};

}  // namespace roost::inline ROOST_ABI::io::detail
