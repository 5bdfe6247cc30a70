#pragma once

// What other threads hand to the listener's thread: finished calls and rung streams. Posting allocates nothing and never waits for
// the listener. It outlives the listener when a handler or a stream's waker does.
//
// fields   first_, open_, parcel::next_, parcel::queued_: under lock_

#include <roost/base/atomic.hpp>
#include <roost/service/detail/wake_fd.hpp>

#include <memory>

namespace roost::inline ROOST_ABI::admin::detail {

using namespace seam;

class exchange;

class parcel {
public:
    parcel() noexcept = default;
    virtual ~parcel() = default;
    parcel(const parcel&) = delete;
    parcel& operator=(const parcel&) = delete;

    // The request that waits for it; null when that has ended. Used by the listener's thread alone.
    [[nodiscard]] exchange* owner() const noexcept { return owner_; }
    void set_owner(exchange* e) noexcept { owner_ = e; }

private:
    friend class inbox;
    exchange* owner_ = nullptr;
    std::shared_ptr<parcel> next_;
    bool queued_ = false;
};

class inbox {
public:
    // Throws std::system_error without a descriptor.
    inbox() = default;

    // Posts the parcel, unless it is posted already, and wakes the listener. Does nothing after close(). Thread-safe.
    void post(std::shared_ptr<parcel> p) noexcept;
    // Returns a posted parcel, in any order, or null.
    [[nodiscard]] std::shared_ptr<parcel> take() noexcept;
    void close() noexcept;
    // Wakes the listener. Thread-safe.
    void ring() const noexcept { bell_.ring(); }
    [[nodiscard]] const service::detail::wake_fd& bell() const noexcept { return bell_; }

private:
    service::detail::wake_fd bell_;
    os_mutex lock_;
    std::shared_ptr<parcel> first_;
    bool open_ = true;
};

}  // namespace roost::inline ROOST_ABI::admin::detail
