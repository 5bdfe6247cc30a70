#pragma once

// A call of getaddrinfo that its caller may abandon.

#include <roost/exec/blocking.hpp>
#include <roost/io/detail/operation.hpp>
#include <roost/io/endpoint.hpp>
#include <roost/sync/detail/wait_operation.hpp>

#include <memory>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::io::detail {

// Shared by the caller and the thread that makes the call. The last of them frees it.
//
// name_, service_    constant
// code_, found_      written by the thread, before done_; read by the caller after it
// self_              set before the work is submitted; cleared by the thread, or by the caller that withdrew the work
class resolve_call final : public ext::blocking_work {
public:
    resolve_call(std::string name, std::string service) noexcept;

    // Returns true if the name is an address and the service a number. Otherwise nothing is known yet.
    [[nodiscard]] bool look_up_numbers() noexcept;
    // Blocks.
    void look_up() noexcept;
    // Returns false if the lane refuses the work.
    [[nodiscard]] static bool submit(const std::shared_ptr<resolve_call>& call, ext::blocking_service& lane) noexcept;
    // Looks up, on a thread of its own, and waits for it. Returns false at the deadline; the thread still uses the call then.
    // Throws std::system_error if no thread can be started.
    [[nodiscard]] static bool look_up_until(const std::shared_ptr<resolve_call>& call, time_point deadline);
    // Called when the caller no longer waits. Work that has not begun never begins.
    void withdraw(ext::blocking_service& lane) noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] readiness& done() noexcept { return done_; }
    void fail(std::error_code why) noexcept { code_ = why; }
    [[nodiscard]] result<std::vector<endpoint>> answer() noexcept;

private:
    static void run(ext::work& w) noexcept;
    void ask(int flags, int kind) noexcept;

    std::string name_;
    std::string service_;
    std::shared_ptr<resolve_call> self_;
    readiness done_{false};
    std::error_code code_;
    std::vector<endpoint> found_;
};

// The source of a wait_operation.
class resolve_source {
public:
    explicit resolve_source(std::shared_ptr<resolve_call> call) noexcept : call_(std::move(call)) {}
    resolve_source(resolve_source&& other) noexcept
        : call_(std::move(other.call_)), lane_(std::exchange(other.lane_, nullptr)) {}
    ~resolve_source();
    resolve_source* operator->() noexcept { return this; }
    const resolve_source* operator->() const noexcept { return this; }

    [[nodiscard]] bool try_pass() noexcept { return call_->look_up_numbers(); }
    [[nodiscard]] bool enqueue(waiter& w) noexcept;
    [[nodiscard]] bool cancel(waiter& w, claim as) noexcept { return call_->done().cancel(w, as); }
    void pass_on(waiter&) noexcept {}
    [[nodiscard]] wait_target describe() const noexcept { return {"address of", call_->name()}; }
    [[nodiscard]] io::result<std::vector<endpoint>> result(claim how) noexcept;

private:
    std::shared_ptr<resolve_call> call_;
    ext::blocking_service* lane_ = nullptr;  // that has the work
};

class [[nodiscard("it does nothing until it is awaited: write co_await")]] resolve_operation
    : public roost::detail::wait_operation<resolve_source> {
public:
    resolve_operation(std::string name, std::string service)
        : resolve_operation(std::make_shared<resolve_call>(std::move(name), std::move(service))) {}

    [[nodiscard]] throwing_form<resolve_operation> or_throw() && {
        return throwing_form<resolve_operation>(static_cast<resolve_operation&&>(*this));
    }
    [[nodiscard]] io::result<std::vector<endpoint>> blocking(time_limit deadline = no_deadline) &&;

private:
    explicit resolve_operation(std::shared_ptr<resolve_call> call) noexcept
        : wait_operation(resolve_source(call)), call_(std::move(call)) {}

    std::shared_ptr<resolve_call> call_;
};

}  // namespace roost::inline ROOST_ABI::io::detail
