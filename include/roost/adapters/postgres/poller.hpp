#pragma once

// One thread that waits for sockets, for libraries that need readiness notifications. Linux: epoll.
//
// An entry is armed for one socket and a deadline, and fires once. It fires on the poller's thread without the lock held, so
// its function should only post. withdraw() returns true if the entry has not fired. Spurious events are possible when the
// number of a socket is reused, so the notified code checks the socket itself.

#include <roost/adapters/detail/access.hpp>
#include <roost/adapters/detail/forward.hpp>
#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI::postgres {

class poller {
public:
    enum event : std::uint32_t { none = 0, readable = 1, writable = 2, expired = 4 };

    // Part of the waiting object. Requires that it is not armed when it is destroyed.
    class entry {
    public:
        using fired_function = void (*)(entry&, std::uint32_t events) noexcept;
        explicit entry(fired_function fired) noexcept : fired_(fired) {}
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    private:
        friend class poller;
        fired_function fired_;
        int fd_ = -1;
        bool armed_ = false;
        time_point deadline_ = no_deadline;
        std::size_t timed_index_ = 0;  // in timed_, plus one; 0: not there
    };

    explicit poller(std::string_view name = "poller");  // throws std::system_error without a thread or a descriptor
    ~poller();  // requires that nothing is armed
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    // Arms e for `events` of fd. With fd -1 only the deadline counts. At most one entry per socket. Returns false if the
    // kernel refuses (errno); nothing is armed.
    [[nodiscard]] bool arm(entry& e, int fd, std::uint32_t events, time_point deadline = no_deadline) noexcept;
    // Makes the deadline of an armed entry earlier; a later one changes nothing. Returns false if the entry is not armed.
    bool hurry(entry& e, time_point deadline) noexcept;
    // Disarms the entry. Returns true if it was armed: it will not fire.
    [[nodiscard]] bool withdraw(entry& e) noexcept;

private:
    friend struct detail::adapters_access;
    struct fired {
        entry* what;
        std::uint32_t events;
    };
    void run() noexcept;
    void wake() noexcept;
    void forget(entry& e) noexcept;
    bool watch(int fd, std::uint32_t events) noexcept;
    [[nodiscard]] std::size_t take_expired(fired* out, std::size_t room) noexcept;
    [[nodiscard]] int milliseconds_to_next() const noexcept;

    std::string name_;
    std::unique_ptr<detail::side_threads> starts_;
    std::unique_ptr<detail::side_threads> cancels_;
    int epoll_ = -1;
    int wake_ = -1;
    seam::small_mutex lock_;
    bool ending_ = false;
    std::vector<entry*> by_fd_;
    std::vector<entry*> timed_;
    std::size_t armed_ = 0;
    time_point next_ = no_deadline;  // not later than the earliest deadline
    seam::thread thread_;
};

inline detail::side_threads& detail::adapters_access::starts_of(poller& of) noexcept { return *of.starts_; }
inline detail::side_threads& detail::adapters_access::cancels_of(poller& of) noexcept { return *of.cancels_; }

}  // namespace roost::inline ROOST_ABI::postgres
