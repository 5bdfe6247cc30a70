#pragma once

#include <roost/exec/work.hpp>

namespace roost::inline ROOST_ABI {

// Work that may block its thread. Lives in whoever wants it done, like all work.
class blocking_work : public work {
public:
    using work::work;

    // For services: the other link of their queue, and whether it is in it.
    blocking_work* prev = nullptr;
    bool queued = false;
};

// Threads that are allowed to block: the blocking lane of a runtime, or of virtual time.
class blocking_service {
public:
    blocking_service() = default;
    blocking_service(const blocking_service&) = delete;
    blocking_service& operator=(const blocking_service&) = delete;

    // From any thread. False when closed: it will not run.
    virtual bool submit(blocking_work& w) noexcept = 0;
    // From any thread, while submitted and not destroyed. True: it has not started and never will.
    virtual bool withdraw(blocking_work& w) noexcept = 0;

protected:
    ~blocking_service() = default;
};

}  // namespace roost::inline ROOST_ABI
