#pragma once

// Signals as counters that only grow: handlers count and ring, the conductor reads. A storm loses only what the kernel
// merges.

#include <roost/base/atomic.hpp>
#include <roost/service/phase.hpp>
#include <roost/service/signals.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service::detail {

enum class handled : std::uint8_t { term, interrupt, hangup, user };
inline constexpr std::size_t handled_count = 4;

[[nodiscard]] int number_of(handled h) noexcept;
// Returns "SIGTERM", or "signal 99" for numbers without a name here.
[[nodiscard]] std::string signal_name(int number);

inline constexpr std::size_t senders_kept = 8;  // of each kind
inline constexpr int unknown_sender = -1;

// How many signals arrived since remember_signals(), and their senders.
class signal_counts {
public:
    constexpr signal_counts() noexcept = default;
    [[nodiscard]] std::uint32_t of(handled h) const noexcept { return count_[static_cast<std::size_t>(h)]; }
    // Returns the process that sent signal `number` of this kind, counted from 0; 0 is the kernel. Returns unknown_sender
    // if more than senders_kept have arrived since.
    [[nodiscard]] int sender_of(handled h, std::uint32_t number) const noexcept;

private:
    friend class signal_box;
    std::array<std::uint32_t, handled_count> count_{};
    std::array<std::array<std::uint64_t, senders_kept>, handled_count> sender_{};  // number + 1 above, process below
};

class signal_inbox {
public:
    [[nodiscard]] static signal_counts read() noexcept;
    // Sets the descriptors to ring; -1 for none. Rings at once if a signal was recorded.
    static void listen(int first_fd, int second_fd) noexcept;
    // Clears the counts: every recorded signal has been handled.
    static void clear() noexcept;
};

// Ends the process by the default action of that signal, or with 128 + n where that is not possible (process 1 of a
// container). With signal 0, exits with `otherwise`.
[[noreturn]] void die_of(int signal, int otherwise = exit_code::work_cancelled) noexcept;

// SIGPIPE does not kill the process while one of these lives. A handler that is installed already stays.
class no_broken_pipes {
public:
    no_broken_pipes() noexcept;
    ~no_broken_pipes();
    no_broken_pipes(const no_broken_pipes&) = delete;
    no_broken_pipes& operator=(const no_broken_pipes&) = delete;

private:
    bool changed_ = false;
};

}  // namespace roost::inline ROOST_ABI::service::detail
