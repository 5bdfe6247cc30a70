// Orders A1 and A2: asio/detail/driven_context.hpp.

#include <roost/asio/detail/driven_context.hpp>

#include <roost/asio/io_executor.hpp>
#include <roost/base/assert.hpp>
#include <roost/base/failure_sink.hpp>

#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

namespace {

// After so many handlers the worker looks for other work: handlers that post themselves must not keep it.
constexpr unsigned most_handlers = 64;
// A poll() ends with a call of the kernel that finds nothing. While events come one by one, that is a call per event. So most
// of them are left out.
constexpr unsigned most_skipped = 7;

}  // namespace

// The handler that ends a park().
class driven_context::rung {
public:
    explicit rung(driven_context& owner) noexcept : owner_(&owner) {}
    using allocator_type = handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->memory_); }
    void operator()() const noexcept { owner_->ringing_.store(false, mo::seq_cst); }  // A2

private:
    driven_context* owner_;
};

// The handler of the alarm, also of one that was moved.
class driven_context::rang {
public:
    explicit rang(driven_context& owner) noexcept : owner_(&owner) {}
    using allocator_type = handler_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(owner_->alarm_memory_); }
    void operator()(const error_code&) const noexcept {
        if (--owner_->alarms_ == 0) {
            owner_->alarm_at_ = no_deadline;
        }
    }

private:
    driven_context* owner_;
};

driven_context::driven_context(net::execution_context& context)
    : service(context), context_(static_cast<net::io_context*>(&context)), alarm_(std::in_place, context_->get_executor()) {}

driven_context& driven_context::of(net::io_context& context, site made_at) {
    io_executor& executor = io_executor::of(context);
    driven_context& made = net::use_service<driven_context>(context);
    if (made.at_work_) {
        panic("asio_driver", "", made_at,
              "another driver, made at " + made.made_at_.to_string() + ", drives this io_context already");
    }
    made.at_work_.emplace(context.get_executor());
    made.made_at_ = made_at;
    made.was_single_threaded_ = executor.is_single_threaded();
    executor.set_single_threaded();
    return made;
}

bool driven_context::is_driven(net::io_context& context) noexcept {
    return net::has_service<driven_context>(context) && net::use_service<driven_context>(context).at_work_.has_value();
}

template <class Call>
std::size_t driven_context::try_run(Call call) noexcept {
    try {
        return call();
    } catch (...) {
        ext::report_failure("a handler on asio_driver", "", made_at_, std::current_exception());
        return 1;
    }
}

bool driven_context::poll() noexcept {
    const bool was_parked = std::exchange(has_run_, false);
    if (was_parked && is_sparse_ && skipped_ < most_skipped) {
        ++skipped_;
        return true;
    }
    skipped_ = 0;
    unsigned ran = 0;
    while (ran < most_handlers && try_run([this] { return context_->poll_one(); }) != 0) {
        ++ran;
    }
    if (was_parked) {
        is_sparse_ = ran == 0;
    }
    if (ran == 0 && context_->stopped()) {
        context_->restart();
    }
    return was_parked || ran != 0;
}

// Returns 0 only if the context was stopped, or without memory for the alarm at the deadline.
void driven_context::park(time_point deadline) noexcept {
    const bool has_alarm = set_alarm(deadline);
    has_run_ =
        try_run([&] {
            return has_alarm ? context_->run_one() : context_->run_one_until(alarm::time_point(deadline.time_since_epoch()));
        }) != 0;
    if (!has_run_ && context_->stopped()) {
        context_->restart();
    }
}

// Asio's run_one_until() wakes up every second and rounds to milliseconds. An alarm does not. An earlier one stays: it ends a
// park() too soon, once.
bool driven_context::set_alarm(time_point deadline) noexcept {
    if (deadline >= alarm_at_) {
        return true;
    }
    try {
        alarm_->expires_at(alarm::time_point(deadline.time_since_epoch()));
        alarm_->async_wait(rang(*this));
    } catch (...) {
        alarm_at_ = no_deadline;  // no memory: the wait before was cancelled
        return false;
    }
    ++alarms_;
    alarm_at_ = deadline;
    return true;
}

void driven_context::wake() noexcept {
    if (!ringing_.exchange(true, mo::seq_cst)) {  // A1
        const int saved = errno;
        net::post(context_->get_executor(), rung(*this));
        errno = saved;
    }
}

ext::reactor* driven_context::reactor(std::error_code& why) noexcept { return io_executor::of(*context_).make_reactor(why); }

void driven_context::close() noexcept {
    if (at_work_) {
        static_cast<void>(try_run([this] { return alarm_->cancel(); }));
        io_executor::of(*context_).set_single_threaded(was_single_threaded_);
        at_work_.reset();
        context_->restart();  // without work it was stopped just now
    }
}

}  // namespace roost::inline ROOST_ABI::detail
