#pragma once

// A wait until a system call is worth trying: the source of a wait_operation.

#include <roost/io/detail/pollable.hpp>
#include <roost/io/result.hpp>
#include <roost/sync/detail/wait_operation.hpp>

namespace roost::inline ROOST_ABI::io::detail {

class ready_source {
public:
    ready_source(pollable* on, direction d) noexcept : on_(on), direction_(d) {}
    ready_source(ready_source&& other) noexcept;
    ~ready_source();
    ready_source* operator->() noexcept { return this; }
    const ready_source* operator->() const noexcept { return this; }

    static constexpr bool is_clause = true;
    static constexpr const char* wait_call = "readable() or writable()";
    [[nodiscard]] bool try_pass() noexcept;
    [[nodiscard]] bool enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept { return on_->at(direction_).cancel(w, as); }
    void pass_on(waiter&) noexcept {}
    [[nodiscard]] wait_target describe() const noexcept;
    [[nodiscard]] io::result<> result(claim how) const noexcept;

private:
    pollable* on_;
    direction direction_;
    bool entered_ = false;
    std::error_code code_;
};

using ready_operation = roost::detail::wait_operation<ready_source>;

}  // namespace roost::inline ROOST_ABI::io::detail
