#pragma once

// What an initiating function returns for use_task: an operation that has not begun, its awaiter and its handler.

#include <roost/asio/use_task.hpp>

#include <roost/asio/detail/frame_allocator.hpp>
#include <roost/asio/detail/net.hpp>
#include <roost/asio/detail/typed_operation.hpp>

#include <coroutine>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// The handler: Asio calls it or destroys it.
template <class... Args>
class use_task_handler {
public:
    explicit use_task_handler(typed_operation<Args...>& to) noexcept : to_(&to) {}
    use_task_handler(use_task_handler&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
    use_task_handler& operator=(use_task_handler&&) = delete;
    ~use_task_handler() {
        if (to_ != nullptr) {
            to_->handler_dropped();
        }
    }

    template <class... Given>
    void operator()(Given&&... given) noexcept {
        typed_operation<Args...>* to = std::exchange(to_, nullptr);
        to->store(std::forward<Given>(given)...);
        to->handler_called();
    }

    using allocator_type = frame_allocator<>;
    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(); }

    using cancellation_slot_type = net::cancellation_slot;
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return to_ == nullptr ? cancellation_slot_type() : to_->slot();
    }
    [[nodiscard]] net::any_io_executor executor_for(const net::any_io_executor& offered) const noexcept {
        return to_ == nullptr ? offered : to_->serial_executor(offered);
    }

private:
    typed_operation<Args...>* to_;
};

// The awaiter, in the frame of the body that awaits it.
template <class Call, class... Args>
class operation_await final : private typed_operation<Args...> {
public:
    operation_await(promise_base& me, Call& call) noexcept
        : typed_operation<Args...>(me, call.token().ends_at_stop()), call_(&call) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) {
        if (!this->may_begin()) {
            return true;
        }
        if (const net::any_io_executor known = call_->take_executor()) {
            this->prepare(known);
        }
        this->before_begin();
        try {
            call_->begin(use_task_handler<Args...>(*this));
        } catch (...) {
            this->keep_error(std::current_exception());  // thrown by await_resume, when the handler is gone
        }
        return this->after_begin();
    }
    decltype(auto) await_resume() { return this->take(); }

private:
    Call* call_;
};

// What an initiating function returns: an operation that has not begun.
template <class Initiation, class Signature, class... InitArgs>
class operation_call;

template <class Initiation, class R, class... Args, class... InitArgs>
class [[nodiscard(
    "an operation with use_task begins when it is awaited")]] operation_call<Initiation, R(Args...), InitArgs...> {
public:
    template <class I, class... Given>
    operation_call(ext::use_task_t token, net::any_io_executor bound, I&& initiation, Given&&... given)
        : token_(token),
          bound_(std::move(bound)),
          initiation_(std::forward<I>(initiation)),
          arguments_(std::forward<Given>(given)...) {}

    [[nodiscard]] auto in_task(promise_base& me) && {
        return operation_await<operation_call, std::decay_t<Args>...>(me, *this);
    }

    [[nodiscard]] ext::use_task_t token() const noexcept { return token_; }
    // Returns the bound executor, else that of the I/O object if the initiation has one, else an empty one.
    [[nodiscard]] net::any_io_executor take_executor() {
        if constexpr (requires(const Initiation& i) { net::any_io_executor(i.get_executor()); }) {
            if (!bound_) {
                return net::any_io_executor(initiation_.get_executor());
            }
        }
        return std::move(bound_);
    }
    template <class Handler>
    void begin(Handler handler) {
        // Moved out: they may hold executors of a context that the frame outlives.
        Initiation initiation(std::move(initiation_));
        std::tuple<InitArgs...> arguments(std::move(arguments_));
        std::apply([&](InitArgs&... given) { std::move(initiation)(std::move(handler), std::move(given)...); }, arguments);
    }

private:
    ext::use_task_t token_;
    net::any_io_executor bound_;
    Initiation initiation_;
    std::tuple<InitArgs...> arguments_;
};

template <class Signature, class Initiation, class... InitArgs>
[[nodiscard]] auto make_call(ext::use_task_t token, net::any_io_executor bound, Initiation&& initiation,
                             InitArgs&&... given) {
    return operation_call<std::decay_t<Initiation>, Signature, std::decay_t<InitArgs>...>(
        token, std::move(bound), std::forward<Initiation>(initiation), std::forward<InitArgs>(given)...);
}

}  // namespace roost::inline ROOST_ABI::detail

template <class R, class... Args>
class roost::detail::net::async_result<roost::ext::use_task_t, R(Args...)> {
public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation&& initiation, roost::ext::use_task_t token, InitArgs&&... given) {
        return roost::detail::make_call<R(Args...)>(token, any_io_executor(), std::forward<Initiation>(initiation),
                                                    std::forward<InitArgs>(given)...);
    }
};

// The cancellation signal is emitted on the bound executor, so it has to be known here.
template <class Executor, class R, class... Args>
class roost::detail::net::async_result<roost::detail::net::executor_binder<roost::ext::use_task_t, Executor>, R(Args...)> {
public:
    template <class Initiation, class Token, class... InitArgs>
    static auto initiate(Initiation&& initiation, Token&& token, InitArgs&&... given) {
        return roost::detail::make_call<R(Args...)>(token.get(), any_io_executor(token.get_executor()),
                                                    std::forward<Initiation>(initiation), std::forward<InitArgs>(given)...);
    }
};

template <class... Args, class Executor>
struct roost::detail::net::associated_executor<roost::detail::use_task_handler<Args...>, Executor> {
    using type = any_io_executor;
    static type get(const roost::detail::use_task_handler<Args...>& handler, const Executor& offered = Executor()) noexcept {
        if constexpr (std::is_constructible_v<type, const Executor&>) {
            return handler.executor_for(type(offered));
        } else {  // the default since 1.38 runs functions inline and is no executor for I/O
            return handler.executor_for(type(system_executor()));
        }
    }
};
