#pragma once

// The thread of a route. It calls the handler, one call at a time. So a handler that does not return blocks only its own route. The
// thread begins with the first call.
//
// fields   waiting, running, ending, begun: under lock
// I1       a withdrawn call is not begun; a call that runs continues, and nothing waits for it

#include <roost/admin/detail/inbox.hpp>
#include <roost/admin/http.hpp>

#include <deque>
#include <memory>
#include <string>

namespace roost::inline ROOST_ABI::admin::detail {

// One call of a handler: made by the listener's thread, used by the worker's until it is posted.
class http_call final : public parcel {
public:
    explicit http_call(http_request from) noexcept : request_(std::move(from)) {}
    [[nodiscard]] const http_request& request() const noexcept { return request_; }
    [[nodiscard]] http_reply& reply() noexcept { return reply_; }
    // Calls the handler; an exception becomes a reply with status 500.
    void run(const http_handler& handler) noexcept;

private:
    http_request request_;
    http_reply reply_;
};

class route_worker {
public:
    // Throws std::bad_alloc.
    route_worker(http_handler handler, std::shared_ptr<inbox> back);
    // Called after end().
    ~route_worker() = default;
    route_worker(const route_worker&) = delete;
    route_worker& operator=(const route_worker&) = delete;

    // Queues the call, which is posted to the inbox when the handler has returned. Throws std::bad_alloc, or std::system_error
    // without a thread.
    void submit(std::shared_ptr<http_call> c);
    // Drops the call if it has not begun.
    void withdraw(const http_call& c) noexcept;
    // Returns how long the handler has not returned; zero if it does not run.
    [[nodiscard]] duration stuck_for(time_point now) const noexcept;

    // Drops the calls that have not begun, and ends the thread.
    void begin_end() noexcept;
    // Blocks until the thread has ended, at most until the deadline. Returns false if it has not: it is left behind.
    [[nodiscard]] bool finish(time_point deadline) noexcept;

private:
    class shared {
    public:
        shared(http_handler h, std::shared_ptr<inbox> b) : handler(std::move(h)), back(std::move(b)) {}
        void run() noexcept;

        http_handler handler;
        const std::shared_ptr<inbox> back;
        mutable os_mutex lock;
        os_condvar news;
        std::deque<std::shared_ptr<http_call>> waiting;
        bool running = false;
        bool ending = false;
        time_point begun;
    };

    std::shared_ptr<shared> state_;  // the thread has it too, and may outlive this object
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::admin::detail
