#pragma once

// Signals as numbers that only grow: handlers count and ring, the conductor reads. Nothing is lost in a storm but what the
// kernel itself folds together.

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
// "SIGTERM"; "signal 99" for what has no name here.
[[nodiscard]] std::string signal_name(int number);

inline constexpr std::size_t senders_kept = 8;  // of each kind
inline constexpr int unknown_sender = -1;

// How many came since the process began to remember, and who sent them.
class signal_counts {
public:
    constexpr signal_counts() noexcept = default;
    [[nodiscard]] std::uint32_t of(handled h) const noexcept { return count_[static_cast<std::size_t>(h)]; }
    // Of the one with that number, from 0; 0 is the kernel. Unknown: more than senders_kept have come since.
    [[nodiscard]] int sender_of(handled h, std::uint32_t number) const noexcept;

private:
    friend class signal_box;
    std::array<std::uint32_t, handled_count> count_{};
    std::array<std::array<std::uint64_t, senders_kept>, handled_count> sender_{};  // number + 1 above, the process below
};

class signal_inbox {
public:
    [[nodiscard]] static signal_counts read() noexcept;
    // Who is rung; -1 for nobody. Rings at once if anything was remembered.
    static void listen(int first_fd, int second_fd) noexcept;
    // What was remembered has been dealt with.
    static void clear() noexcept;
};

// Ends the process by that signal as if nobody had handled it, or with 128 + n where that is not possible (process 1 of a
// container). 0: exits with `otherwise`.
[[noreturn]] void die_of(int signal, int otherwise = exit_code::work_cancelled) noexcept;

// SIGPIPE does not kill while one of these lives, unless somebody handles it already.
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
