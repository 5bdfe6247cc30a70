#pragma once

// Threads for the calls of libpq that have no limit and cannot be interrupted: resolving a name, and PQcancel, which
// returns when the server has closed the connection. Their waiters have a limit. When it passes, the call is abandoned: it
// keeps its thread and what it uses until it returns, and nothing waits for it. There are few threads, so a server or a
// resolver that hangs costs no more than these, and no thread of the runtime's blocking lane. Further calls wait in FIFO
// order.

#include <roost/base/atomic.hpp>
#include <roost/base/clock.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::postgres::detail {

using namespace seam;

// One call. Shared by its thread and its waiter; the last of them destroys it.
class side_call {
public:
    explicit side_call(std::string name) : name_(std::move(name)) {}
    side_call(const side_call&) = delete;
    side_call& operator=(const side_call&) = delete;
    virtual ~side_call() = default;
    // The description of the call, for error texts: "resolving the name 'db.example'".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    friend class side_threads;
    virtual void run() noexcept = 0;  // may block
    virtual void returned() noexcept = 0;  // after run(), on the same thread: notifies the waiter

    std::string name_;
    std::shared_ptr<side_call> next_;  // in the queue
};

class side_threads {
public:
    side_threads(std::string name, std::size_t limit);
    side_threads(const side_threads&) = delete;
    side_threads& operator=(const side_threads&) = delete;
    // Drops calls that have not begun. Reports each call that has not returned to the failure sink, and abandons its
    // thread.
    ~side_threads();

    // Returns false if no thread runs and none can be started; the call will not run.
    [[nodiscard]] bool submit(std::shared_ptr<side_call> call) noexcept;
    // Returns true if the call had not begun; it never will.
    bool withdraw(const side_call& call) noexcept;

private:
    struct shared;
    static void run(shared& s) noexcept;

    std::shared_ptr<shared> shared_;
};

}  // namespace roost::inline ROOST_ABI::postgres::detail
