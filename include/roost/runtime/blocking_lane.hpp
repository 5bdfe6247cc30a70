#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/blocking.hpp>
#include <roost/runtime/detail/fork_check.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {

// Threads for work that blocks: at most `limit` of them, made when needed, ended when nobody needed them for a while. What
// does not fit waits in a queue, first in, first out, and can be withdrawn until it starts.
class blocking_lane final : public blocking_service {
public:
    explicit blocking_lane(std::size_t limit = 64, std::string_view name = "blocking",
                           duration keep_idle = std::chrono::seconds(5));
    ~blocking_lane();  // close()

    bool submit(blocking_work& w) noexcept override;
    bool withdraw(blocking_work& w) noexcept override;

    // Takes no more; what is queued still runs; returns when every thread has ended. Not from a thread of the lane.
    void close() noexcept;

    // Whether the caller runs on one of its threads.
    [[nodiscard]] bool is_here() const noexcept;
    [[nodiscard]] std::size_t threads() const noexcept;
    [[nodiscard]] std::size_t queued() const noexcept;

private:
    struct member;

    bool ensure_thread() noexcept;
    void run(member& me) noexcept;
    blocking_work* pop() noexcept;
    void reap() noexcept;

    mutable small_mutex lock_;
    blocking_work* first_ = nullptr;
    blocking_work* last_ = nullptr;
    std::size_t queued_ = 0;
    std::size_t limit_;
    std::size_t live_ = 0;
    std::size_t idle_ = 0;
    bool closed_ = false;
    atomic<std::uint32_t> called_{0};  // changes whenever an idle thread has to look
    member* members_ = nullptr;
    duration keep_idle_;
    detail::fork_check fork_;
    std::string name_;
};

}  // namespace roost::inline ROOST_ABI
