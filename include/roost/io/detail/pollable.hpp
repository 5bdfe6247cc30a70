#pragma once

// What operations work on: a descriptor, or a stream of a test. It has two directions, a count of its uses and the system calls.
//
// A use is an operation that was begun, or a close() that runs. close() wakes every operation, and no further one can begin. The
// descriptor is closed when the last use ends. So no system call uses a number that belongs to another file by then. The memory
// stays until the handle is destroyed too: other tasks may begin operations while one closes the handle.
//
// word     bit 31 closed     bit 30 owned: the handle exists     bits 0-29 number of uses
//
//   open --enter, leave--> open
//   open --close--> closed             effect: wake; the last use calls shut()
//   closed --drop--> closed, not owned     effect without a use: released(); else by the last use, after shut()
//
// id   operation               order            pairs  carries                                    fails in
// U1   enter: load, CAS        relaxed          -      nothing: the handle, or another use, keeps it alive  (floor)
// U2   leave: load, CAS fails  acquire          U3     the touches of the uses that have ended    pollable_model: last_user_closes
// U3   leave: CAS              release          U2     this use's touches                         pollable_model: last_user_closes
// U4   last use: fetch_sub     acq_rel          U6     out: shut(); in: the handle's touches      pollable_model: dropped_beside_last_use
// U5   close: load, CAS        relaxed          -      nothing: one word decides, and U2 follows  (floor)
// U6   drop: fetch_and         acq_rel          U4     out: the handle's touches; in: shut()      pollable_model: dropped_beside_last_use
// U7   is_closed: load         relaxed          -      nothing: a snapshot                        (floor)
// U8   open: store             relaxed          -      nothing: no other thread knows it yet      (floor)
// U9   limits: load, CAS fails acquire          U10    the limits                                 pollable_model: limits_vs_wait
// U10  limits: CAS             release          U9     the limits                                 pollable_model: limits_vs_wait
// U11  limits: load, store     relaxed          -      nothing: no other thread uses it any more  (floor)
//
// U9 survives acquire->relaxed: each use depends on the address that was loaded

#include <roost/base/time_limit.hpp>
#include <roost/exec/executor.hpp>
#include <roost/io/detail/readiness.hpp>
#include <roost/io/detail/wait_limit.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <sys/uio.h>

namespace roost::inline ROOST_ABI::io::detail {

enum class direction : std::uint8_t { in, out };

// What a system call returned.
class moved {
public:
    // count: as the call returned it; below zero: why is an errno value.
    constexpr moved(std::ptrdiff_t count, int why) noexcept : count_(count), why_(count < 0 ? why : 0) {}
    [[nodiscard]] constexpr bool is_done() const noexcept { return count_ >= 0; }
    [[nodiscard]] constexpr std::size_t count() const noexcept { return static_cast<std::size_t>(count_); }
    [[nodiscard]] constexpr int why() const noexcept { return why_; }
    [[nodiscard]] bool would_block() const noexcept;

private:
    std::ptrdiff_t count_;
    int why_;
};

class pollable {
public:
    pollable(const pollable&) = delete;
    pollable& operator=(const pollable&) = delete;

    [[nodiscard]] readiness& at(direction d) noexcept { return d == direction::in ? in_ : out_; }

    // Begins a use, which leave() ends. Returns false if it is closed.
    [[nodiscard]] bool enter() noexcept {
        std::uint32_t seen = uses_.load(seam::mo::relaxed);  // U1
        while ((seen & closed_bit) == 0) {
            if (uses_.compare_exchange_weak(seen, seen + 1, seam::mo::relaxed, seam::mo::relaxed)) {  // U1
                return true;
            }
        }
        return false;
    }
    void leave() noexcept {
        std::uint32_t seen = uses_.load(seam::mo::acquire);  // U2
        while ((seen & ~owned_bit) != (closed_bit | 1U)) {
            if (uses_.compare_exchange_weak(seen, seen - 1, seam::mo::release, seam::mo::acquire)) {  // U3 U2
                return;
            }
        }
        leave_last();
    }
    // Called by the owner. Wakes every operation; each ends with errc::closed. Does nothing if it is closed.
    void close() noexcept;
    // Called once by the owner, after close(). The owner does not use it afterwards.
    void drop() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return (uses_.load(seam::mo::relaxed) & closed_bit) != 0; }  // U7

    // Called when an operation has to wait on `where`. Registers the descriptor there for events of the direction, unless it is
    // registered already.
    [[nodiscard]] virtual std::error_code attach(executor_ref where, direction d) noexcept = 0;
    [[nodiscard]] virtual moved read(const iovec* to, int count) noexcept = 0;
    [[nodiscard]] virtual moved write(const iovec* from, int count) noexcept = 0;
    // Writes from an open file. Returns zero bytes at the end of the file.
    [[nodiscard]] virtual moved send_file(int file, std::uint64_t offset, std::size_t count) noexcept;
    // Ends the sending direction. Returns zero or an errno value.
    [[nodiscard]] virtual int end_writing() noexcept = 0;
    // Returns -1 if there is no descriptor.
    [[nodiscard]] virtual int native_handle() const noexcept { return -1; }
    // Blocks the thread until a call would not block. Returns true then. Returns false at the deadline, or earlier: the caller
    // checks whether the object is closed, and calls again.
    [[nodiscard]] virtual bool block(direction d, time_point deadline) noexcept = 0;
    // For reports. The text outlives every operation.
    [[nodiscard]] virtual const char* name() const noexcept = 0;

    // Throws std::bad_alloc.
    void set_limit(direction d, duration longest);
    // After pause(), take_pause() returns true once. The wait of `in` that follows ends after wait_limit::pause_length, also
    // without an event.
    void pause() noexcept;
    [[nodiscard]] bool take_pause() noexcept;
    // Blocks the thread for pause_length if pause() was called, at most until the deadline.
    void sit_out_pause(time_point deadline) noexcept;
    // Called before a wait is queued.
    void begin_wait(direction d, executor_ref where) noexcept {
        if (both_limits* all = limits_.load(seam::mo::acquire)) [[unlikely]] {  // U9
            all->at(d).begin(where ? where->timers() : nullptr);
        }
    }

protected:
    explicit pollable(bool is_ready) noexcept : in_(is_ready), out_(is_ready) {}
    ~pollable() = default;
    // Called by close() while operations use it. Makes their system calls return.
    virtual void interrupt() noexcept {}
    // Called once, when it is closed and no operation uses it. Closes the descriptor.
    virtual void shut() noexcept {}
    // Called once, after shut(), when the owner has gone too. May destroy it.
    virtual void released() noexcept = 0;

    void open(bool is_ready) noexcept;
    // Called by shut(). Afterwards no limit fires.
    void end_limits() noexcept;
    void drop_limits() noexcept;

private:
    static constexpr std::uint32_t closed_bit = 0x80000000;
    static constexpr std::uint32_t owned_bit = 0x40000000;

    class both_limits {
    public:
        explicit both_limits(pollable& of) noexcept : in_(of.in_), out_(of.out_) {}
        [[nodiscard]] wait_limit& at(direction d) noexcept { return d == direction::in ? in_ : out_; }

    private:
        wait_limit in_;
        wait_limit out_;
    };

    [[gnu::noinline]] void leave_last() noexcept;
    [[nodiscard]] both_limits& limits();

    readiness in_;
    readiness out_;
    seam::atomic<std::uint32_t> uses_{owned_bit};
    seam::atomic<both_limits*> limits_{nullptr};
};

// Owns a pollable: closes it when destroyed. close() and get() may be called by several threads at once.
class pollable_owner {
public:
    pollable_owner() noexcept = default;
    explicit pollable_owner(pollable* p) noexcept : p_(p) {}
    pollable_owner(pollable_owner&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
    pollable_owner& operator=(pollable_owner&& other) noexcept {
        if (this != &other) {
            reset();
            p_ = std::exchange(other.p_, nullptr);
        }
        return *this;
    }
    ~pollable_owner() { reset(); }

    void reset() noexcept {
        if (p_ != nullptr) {
            p_->close();
            std::exchange(p_, nullptr)->drop();
        }
    }
    void close() noexcept {
        if (p_ != nullptr) {
            p_->close();
        }
    }
    // Returns null if it owns none. Returns the object also when that is closed.
    [[nodiscard]] pollable* get() const noexcept { return p_; }
    [[nodiscard]] bool is_open() const noexcept { return p_ != nullptr && !p_->is_closed(); }
    [[nodiscard]] explicit operator bool() const noexcept { return p_ != nullptr; }
    [[nodiscard]] int native_handle() const noexcept { return is_open() ? p_->native_handle() : -1; }

private:
    pollable* p_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::io::detail
