#pragma once

// A handler of ours among those of others. Others may have installed theirs before ours or over it, and each may call the one that
// was there before it: ours may be twice in such a chain, and its own calls may come back to it.

#include <roost/base/atomic.hpp>

#include <signal.h>

#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

// How deep the calling thread is in handlers of one kind for one signal. On the stack of the handler; the functions that it calls
// must return to it.
class signal_depth {
public:
    enum class kind : std::uint8_t { hub, service };
    signal_depth(kind whose, int number) noexcept;
    ~signal_depth();
    signal_depth(const signal_depth&) = delete;
    signal_depth& operator=(const signal_depth&) = delete;

    [[nodiscard]] bool is_first() const noexcept { return before_ == 0; }
    [[nodiscard]] bool is_second() const noexcept { return before_ == 1; }

private:
    std::uint64_t bit_;
    kind whose_;
    std::uint8_t before_;
};

// An action in a form that a handler can read: the function, and whether it takes three arguments.
class former_action {
public:
    void set(const struct sigaction& a) noexcept;
    [[nodiscard]] std::uintptr_t address() const noexcept;
    [[nodiscard]] bool is_default() const noexcept;
    // Nothing if that was the default or to ignore it.
    void call(int number, siginfo_t* info, void* context) const noexcept;

private:
    atomic<std::uintptr_t> function_{0};
    atomic<bool> takes_info_{false};
};

// What was there before our handler of one signal. Installed and uninstalled by one thread at a time; handlers may run meanwhile.
class signal_chain {
public:
    using function = void (*)(int, siginfo_t*, void*);

    // Does nothing where the present handler is ours.
    void install(int number, function mine, const sigset_t& mask) noexcept;
    // Does nothing where the present handler is not ours: when that is taken away, ours does what was before it.
    void uninstall(int number, function mine) noexcept;

    // By our handler: calls what was there before. If that is the default, it has its effect unless `is_watched`, or unless a
    // handler of others has called ours.
    void pass_on(const signal_depth& here, function mine, bool is_watched, int number, siginfo_t* info,
                 void* context) const noexcept;

private:
    static bool is_unwanted(const signal_depth& here, int number, function mine) noexcept;
    static bool is_mine(const struct sigaction& a, function mine) noexcept {
        return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == mine;
    }

    former_action latest_;  // below ours where it was installed last
    former_action lowest_;  // below ours where it was installed first, if it is still there too
    atomic<std::uint32_t> places_{0};  // in the chain that ours may have, up to two
    struct sigaction latest_whole_{};  // the same for sigaction()
    struct sigaction lowest_whole_{};
};

}  // namespace roost::inline ROOST_ABI::detail
