#pragma once

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/bell.hpp>
#include <roost/exec/executor.hpp>
#include <roost/testing/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::testkit {

// Runs work only when the test calls run_one() and the like, on the calling thread, in FIFO order. post() is thread-safe.
class manual_executor final : public executor {
public:
    explicit manual_executor(std::string_view name = "manual executor") : name_(name) {}
    ~manual_executor();  // ends the program if work is queued: it would be lost silently

    bool post(ext::work& w) noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

    // Runs the oldest item. Returns false if nothing was queued.
    bool run_one() noexcept;
    // Runs what is queued, and what that work posts. Returns the number of bodies that ran.
    std::size_t run_all() noexcept;
    // Runs until `done()` returns true. Returns false if the queue is empty before that.
    template <class Done>
    bool run_until(Done done) {
        while (!done()) {
            if (!run_one()) {
                return false;
            }
        }
        return true;
    }
    // Runs until `done()` returns true. Blocks while nothing is queued, for work that other threads post.
    template <class Done>
    void run_until_waiting(Done done) {
        for (std::uint32_t heard = bell_.listen(); !done(); heard = bell_.listen()) {
            if (!run_one()) {
                bell_.sleep(heard);
            }
        }
    }
    // Makes a run_until_waiting() on another thread evaluate `done()` again. Thread-safe.
    void wake() noexcept { bell_.ring(); }

    // Refuses new work. What is queued can still be run.
    void close() noexcept;
    [[nodiscard]] std::size_t pending() const noexcept;

private:
    ext::work* pop() noexcept;

    mutable seam::small_mutex lock_;
    bool closed_ = false;
    std::size_t pending_ = 0;
    ext::work_list queue_;
    detail::bell bell_;
    std::string name_;
};

}  // namespace roost::inline ROOST_ABI::testkit
