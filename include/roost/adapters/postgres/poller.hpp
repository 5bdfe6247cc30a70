#pragma once

// What PostgreSQL connections share. make_pool() creates one; connect_options::sockets shares it between pools.
//
// On an executor with a driver and timers, such as a runtime or a loop, it has no thread that polls: that executor watches the
// sockets and holds the limits. For any other executor, such as a thread pool of your own, it starts one thread that does
// both. This happens when the first connection needs it.
//
// It also has the side threads for the calls that cannot be interrupted (connection.hpp).

#include <roost/adapters/detail/access.hpp>
#include <roost/adapters/detail/forward.hpp>
#include <roost/base/clock.hpp>
#include <roost/exec/executor.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace roost::inline ROOST_ABI::postgres {

class poller {
public:
    explicit poller(std::string_view name = "poller");
    ~poller();  // requires that no wait is left on its executor
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    // Returns the executor of the poller's own thread, which has a driver and timers. Starts the thread if needed. Throws
    // std::system_error. Thread-safe.
    [[nodiscard]] executor& get_executor();

    // --- deprecated: io::descriptor waits for the sockets of any library, on any executor with a driver ---

    enum event : std::uint32_t { none = 0, readable = 1, writable = 2, expired = 4 };

    // Part of the waiting object. Requires that it is not armed when it is destroyed.
    class entry {
    public:
        using fired_function = void (*)(entry&, std::uint32_t events) noexcept;
        explicit entry(fired_function fired) noexcept;
        ~entry();
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    private:
        friend class poller;
        friend class detail::watched_entry;
        fired_function fired_;
        std::unique_ptr<detail::watched_entry> armed_;
    };

    // Arms e for `events` of fd, once. It fires on the poller's thread. With fd -1 only the deadline counts. Returns false if
    // the kernel refuses (errno); nothing is armed.
    [[deprecated("use io::descriptor")]] [[nodiscard]] bool arm(entry& e, int fd, std::uint32_t events,
                                                                time_point deadline = no_deadline) noexcept;
    // Makes the deadline of an armed entry earlier; a later one changes nothing. Returns false if the entry is not armed.
    [[deprecated("use io::descriptor")]] bool hurry(entry& e, time_point deadline) noexcept;
    // Disarms the entry. Returns true if it was armed: it will not fire.
    [[deprecated("use io::descriptor")]] [[nodiscard]] bool withdraw(entry& e) noexcept;

private:
    friend struct detail::adapters_access;
    friend class detail::watched_entry;
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace roost::inline ROOST_ABI::postgres
