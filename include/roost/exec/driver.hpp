#pragma once

// What connects an executor with events of the kernel: sockets, pipes, signals.
//
//   driver        waits for events, on a thread of the executor that has nothing to run
//   reactor       where descriptors are registered; a driver has one
//   event_source  a registered descriptor
//
// A runtime makes a driver when the first descriptor needs one. Another driver is passed with runtime_options::driver(), for
// example ext::asio_driver.

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace roost::inline ROOST_ABI::ext {

// What the kernel reports of a descriptor.
class io_events {
public:
    constexpr io_events(bool is_readable, bool is_writable, bool is_ended) noexcept
        : readable_(is_readable), writable_(is_writable), ended_(is_ended) {}
    [[nodiscard]] constexpr bool is_readable() const noexcept { return readable_; }
    [[nodiscard]] constexpr bool is_writable() const noexcept { return writable_; }
    // Returns true if the peer sends no more, or the connection is broken, or a read may stop short before the last byte.
    [[nodiscard]] constexpr bool is_ended() const noexcept { return ended_; }

private:
    bool readable_;
    bool writable_;
    bool ended_;
};

// A descriptor that can be registered. Its memory is reused for descriptors only, and never freed while a reactor exists. So a
// late event of a closed descriptor is a spurious event of the descriptor that uses the memory next.
class event_source {
public:
    using happened_function = void (*)(event_source&, io_events) noexcept;

    // Called by the thread that is in poll(). Must not block: it posts what it wakes.
    void happened(io_events what) noexcept { happened_(*this, what); }

protected:
    constexpr explicit event_source(happened_function f) noexcept : happened_(f) {}
    ~event_source() = default;

private:
    happened_function happened_;
};

// id  operation         order    pairs  carries                                     fails in
// R1  close: store      seq_cst  R2     that no event is reported any more          (no model: the kernel's set)
// R2  is_closed: load   seq_cst  R1     as R1                                       (no model: the kernel's set)

// Registers descriptors. Reference-counted: a registered descriptor holds a reference, so a reactor may outlive its executor.
// After the end of the executor it reports no more events.
class reactor {
public:
    reactor(const reactor&) = delete;
    reactor& operator=(const reactor&) = delete;

    virtual void retain() noexcept = 0;
    virtual void release() noexcept = 0;
    // Registers the descriptor for edge-triggered events in both directions, until it is closed or forgotten. If it
    // is readable or writable already, an event reports that. Returns an error if the kernel refuses it, or the executor has
    // ended. Thread-safe.
    virtual std::error_code watch(event_source& source, int descriptor) noexcept = 0;
    // As watch(), for a descriptor that is only read so far. watch() adds the other direction. A driver without an override
    // reports both, which costs wakes: a unix socket has an event of writing whenever its peer has read.
    virtual std::error_code watch_reading(event_source& source, int descriptor) noexcept {
        return watch(source, descriptor);
    }
    // Ends the registration of a descriptor that stays open. Thread-safe.
    virtual void forget(int descriptor) noexcept = 0;
    // Returns true if the executor has ended.
    [[nodiscard]] bool is_closed() const noexcept { return closed_.load(seam::mo::seq_cst); }  // R2

protected:
    reactor() = default;
    ~reactor() = default;
    // Called when the executor ends.
    void set_closed() noexcept { closed_.store(true, seam::mo::seq_cst); }  // R1

private:
    seam::atomic<bool> closed_{false};
};

// Waits for events. The executor calls poll() and park() on one of its threads at a time. That thread checks for work between
// poll() and park(), because poll() may take a wake(). Code that they call runs no bodies: executor::is_here() returns false
// inside them. What it posts runs afterwards.
class driver {
public:
    driver() = default;
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;

    // Handles the events that park() found. If it found none, handles those that have come by now. Never blocks. Returns false
    // if there were none.
    virtual bool poll() noexcept = 0;
    // Blocks until poll() has something to handle, wake() was called, or the deadline has passed. May return early. May handle
    // some events itself.
    virtual void park(time_point deadline) noexcept = 0;
    // Ends the present park(), or the next one if no poll() comes before it. Thread-safe.
    virtual void wake() noexcept = 0;
    // Returns the reactor of this driver. Returns null, with the reason in `why`, if it has none. Thread-safe.
    virtual ext::reactor* reactor(std::error_code& why) noexcept = 0;
    // Called when the executor ends, after the last poll().
    virtual void close() noexcept = 0;

protected:
    ~driver() = default;
};

}  // namespace roost::inline ROOST_ABI::ext
