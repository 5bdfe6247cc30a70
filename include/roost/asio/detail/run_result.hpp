#pragma once

// The outcome of run(io, task), on its way to the thread that waits for it.

#include <roost/asio/detail/net.hpp>
#include <roost/asio/detail/run_wait.hpp>
#include <roost/base/outcome.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

[[noreturn]] void throw_stopped();
// Throws if run() cannot run this context: it is stopped, or the workers of a runtime drive it.
void require_runnable(net::io_context& io);

// The outcome of a task on a context, for the thread that is inside run().
template <class T>
class run_result final : public run_wait {
public:
    explicit run_result(net::io_context& io) : run_wait(io) {}
    void keep(outcome<T> how) noexcept { how_.emplace(std::move(how)); }
    [[nodiscard]] outcome<T>& how() noexcept { return *how_; }

private:
    std::optional<outcome<T>> how_;
};

// Spans one call of run() on the context while it waits for the result.
class run_wait_guard {
public:
    explicit run_wait_guard(run_wait& wait) noexcept : wait_(&wait) {}
    ~run_wait_guard() { wait_->leave(); }
    run_wait_guard(const run_wait_guard&) = delete;
    run_wait_guard& operator=(const run_wait_guard&) = delete;

private:
    run_wait* wait_;
};

template <class T>
class send_result {
public:
    explicit send_result(std::shared_ptr<run_result<T>> to) noexcept : to_(std::move(to)) {}
    void keep(outcome<T> how) noexcept { to_->keep(std::move(how)); }
    [[nodiscard]] bool try_deliver() noexcept {
        to_->send();
        return true;
    }

private:
    std::shared_ptr<run_result<T>> to_;
};

}  // namespace roost::inline ROOST_ABI::detail
