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

// Runs nothing until told to, on the thread that tells it. First in, first out. Posting works from any thread.
class manual_executor final : public executor {
public:
    explicit manual_executor(std::string_view name = "manual executor") : name_(name) {}
    ~manual_executor();  // work that was never run ends the program: it would be lost silently

    bool post(work& w) noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

    // False when there was nothing to run.
    bool run_one() noexcept;
    // Also what the work posts; how many.
    std::size_t run_all() noexcept;
    // Until `done()`; false when nothing was left to run before that.
    template <class Done>
    bool run_until(Done done) {
        while (!done()) {
            if (!run_one()) {
                return false;
            }
        }
        return true;
    }
    // Until `done()`, sleeping while there is nothing to run: for work that other threads post.
    template <class Done>
    void run_until_waiting(Done done) {
        for (std::uint32_t heard = bell_.listen(); !done(); heard = bell_.listen()) {
            if (!run_one()) {
                bell_.sleep(heard);
            }
        }
    }
    // For whoever changed what a run_until_waiting() on another thread looks at.
    void wake() noexcept { bell_.ring(); }

    // Refuses from now on; what is queued can still be run.
    void close() noexcept;
    [[nodiscard]] std::size_t pending() const noexcept;

private:
    work* pop() noexcept;

    mutable small_mutex lock_;
    bool closed_ = false;
    std::size_t pending_ = 0;
    work_list queue_;
    detail::bell bell_;
    std::string name_;
};

}  // namespace roost::inline ROOST_ABI::testkit
