#pragma once

#include <roost/exec/detail/activity.hpp>
#include <roost/exec/work.hpp>

#include <array>
#include <string_view>

namespace roost::inline ROOST_ABI::ext {

// Work that may block its thread. Intrusive, like all work.
class blocking_work : public work {
public:
    using work::work;

    // Name and site for reports. Copies the beginning of the name: the text may be gone before the work runs.
    void set_label(const detail::activity_label& what) noexcept {
        name_size_ = static_cast<unsigned char>(what.name().copy(name_.data(), name_.size()));
        site_ = what.site();
    }
    [[nodiscard]] std::string_view name() const noexcept { return {name_.data(), name_size_}; }
    [[nodiscard]] roost::site site() const noexcept { return site_; }

    // For services: the second link of their queue. `queued` is true while the work is in it.
    blocking_work* prev = nullptr;
    bool queued = false;

private:
    std::array<char, 63> name_{};
    unsigned char name_size_ = 0;
    roost::site site_;
};

// Threads that may block: the blocking lane of a runtime, or of virtual time.
class blocking_service {
public:
    blocking_service() = default;
    blocking_service(const blocking_service&) = delete;
    blocking_service& operator=(const blocking_service&) = delete;

    // Enqueues w. Returns false if the service is closed or cannot start a thread; then w does not run. Thread-safe.
    virtual bool submit(blocking_work& w) noexcept = 0;
    // Returns true if w has not started and never will. Requires that w was submitted. Thread-safe.
    virtual bool withdraw(blocking_work& w) noexcept = 0;

protected:
    ~blocking_service() = default;
};

}  // namespace roost::inline ROOST_ABI::ext
