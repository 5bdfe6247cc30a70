#pragma once

// Waits for events of descriptors with epoll. A runtime makes one when the first descriptor needs it, so programs rarely name
// this class. An event loop of your own uses it: an executor that calls park() and poll(), and whose make_reactor() returns
// reactor(), can do I/O.
//
// Each descriptor is registered once, for edge-triggered events. So a read or write needs no other system call.

#include <roost/exec/driver.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace roost::inline ROOST_ABI::io {

namespace detail {
class epoll_core;
class epoll_batch;
}  // namespace detail

class epoll_driver final : public ext::driver {
public:
    // Throws std::system_error if the kernel refuses a descriptor, or std::bad_alloc.
    epoll_driver();
    ~epoll_driver();

    bool poll() noexcept override;
    void park(time_point deadline) noexcept override;
    void wake() noexcept override;
    ext::reactor* reactor(std::error_code& why) noexcept override;
    void close() noexcept override;
    // Returns the descriptor of the kernel's set. It is readable while poll() has something to handle.
    [[nodiscard]] int native_handle() const noexcept;

private:
    detail::epoll_core* core_;
    std::unique_ptr<detail::epoll_batch> batch_;
};

}  // namespace roost::inline ROOST_ABI::io
