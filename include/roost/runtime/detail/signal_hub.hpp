#pragma once

// Delivers signals from the handlers to the watches. One per process, with one thread while anything is watched.

#include <roost/base/atomic.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::detail {

inline constexpr int signal_limit = 65;  // numbers from 1 to 64

class signal_numbers {
public:
    constexpr signal_numbers() noexcept = default;
    // Throws error(refused) for a number that is no signal, cannot be caught, or is a fault of the program.
    template <std::same_as<int>... Number>
        requires(sizeof...(Number) > 0)
    explicit signal_numbers(Number... numbers) {
        (add(numbers), ...);
    }

    [[nodiscard]] constexpr bool has(int number) const noexcept { return (bits_ & bit_of(number)) != 0; }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return bits_ == 0; }
    // Returns those that the process does not ignore. nohup and the background jobs of a shell ignore some.
    [[nodiscard]] signal_numbers without_ignored() const noexcept;

private:
    void add(int number);
    static constexpr std::uint64_t bit_of(int number) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(number - 1);
    }
    std::uint64_t bits_ = 0;
};

// Receives signals. The hub shares its ownership while it may call it.
class signal_target {
public:
    explicit signal_target(signal_numbers numbers) noexcept : numbers_(numbers) {}
    virtual ~signal_target() = default;
    signal_target(const signal_target&) = delete;
    signal_target& operator=(const signal_target&) = delete;

    // Called on the hub's thread, outside every lock, once for each signal since add().
    virtual void arrived(int number) noexcept = 0;

private:
    friend class signal_hub;
    signal_numbers numbers_;
    bool installed_ = false;  // this and seen_ under the hub's lock
    std::array<std::uint32_t, signal_limit> seen_{};
};

class signal_hub {
public:
    // Installs handlers for numbers that are not watched yet. Throws std::system_error without a thread, std::bad_alloc
    // without memory; then nothing has changed.
    static void add(std::shared_ptr<signal_target> target);
    // What nothing else watches has its former effect again. The target is still told of what came before. Blocks until the hub's
    // thread, unless the caller is that thread, has left the signals to the others: no longer than a call of arrived() takes.
    static void release(signal_target& target) noexcept;
    // As release(), and ends delivery to the target, except for a call that is under way. If it was the last target, the
    // hub's thread ends: blocks until it has, which takes no longer than such a call. On that thread itself, does not
    // block, and the thread stays.
    static void remove(signal_target& target) noexcept;

    // Called by the hub's thread. Sets `target` and returns a signal that it has not received; returns 0 if there is none.
    [[nodiscard]] static int next(std::shared_ptr<signal_target>& target) noexcept;
    // Called in a forked child, whose handlers are gone already.
    static void forget(signal_target& target) noexcept { target.installed_ = false; }

private:
    static void give_back(const signal_target& target) noexcept;
    static void set_mask() noexcept;
};

// Returns "SIGTERM", or "signal 64" for numbers without a common name.
[[nodiscard]] std::string signal_name_of(int number);

}  // namespace roost::inline ROOST_ABI::detail
