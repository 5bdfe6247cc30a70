#pragma once

// use_task: makes every Asio operation awaitable in a task. The operation ends when the task is cancelled.
//
//   task<> echo(tcp::socket peer) {
//       std::array<char, 4096> data;
//       for (;;) {
//           std::size_t n = co_await peer.async_read_some(net::buffer(data), use_task);
//           co_await fail_after(2s, net::async_write(peer, net::buffer(data, n), use_task));
//       }
//   }
//
// co_await returns the handler's arguments without a leading error_code or exception_ptr; several arguments come as a
// tuple. An error is thrown (boost::system::system_error). Asio's adapters work: as_tuple(use_task) and, innermost,
// bind_executor(ex, use_task).
//
// The operation begins when it is awaited, unless the task is cancelled by then. The task resumes on its own executor, at
// once if the handler runs there. Levels of the tree become Asio's cancellation types:
//   cancel   terminal. The body unwinds when the operation has ended.
//            If a deadline or a scope inside the job cancelled, a result that exists is delivered: a value, or an error
//            other than operation_aborted. The next await then cancels. So a read under a deadline can be retried: its
//            bytes are returned or still in the kernel. If the job itself is being cancelled, the result is destroyed. A
//            failure in an exception_ptr is delivered even then. A handler that ran before the cancel always delivers its
//            result. A composed operation (async_read, async_write) that is aborted half way has moved some bytes.
//            as_tuple(use_task) returns operation_aborted with their number. Without as_tuple the number is lost, and the
//            stream is unusable.
//   stop     total. Operations that support it (accept, wait, connect, a single read or write) end with operation_aborted, which
//            the body sees. Others ignore it, such as async_read, async_write and Beast's. An operation that begins after
//            the stop is treated alike. use_task.through_stop() ignores stop.
// The signal is emitted on the operation's executor: the bound one, or that of the I/O object. Operations whose executor
// may run handlers in parallel get a strand of their own, so that an emission never runs beside their handlers. No strand
// is made for an executor that is a strand, or for an io_context with io_executor::set_single_threaded().
//
// If the handler is destroyed without being called, as all are with their io_context, the body ends cancelled with the
// reason `closed`.

#include <roost/asio/detail/boost_version.hpp>

#include <roost/asio/detail/operation.hpp>
#include <roost/task/as_outcome.hpp>
#include <roost/task/task.hpp>
#include <roost/task/timeout.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <tuple>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

class use_task_t {
public:
    constexpr use_task_t() noexcept = default;
    // Returns a token for operations that a stop does not end.
    [[nodiscard]] constexpr use_task_t through_stop() const noexcept {
        use_task_t made;
        made.ends_at_stop_ = false;
        return made;
    }
    [[nodiscard]] constexpr bool ends_at_stop() const noexcept { return ends_at_stop_; }

private:
    bool ends_at_stop_ = true;
};
inline constexpr use_task_t use_task;

namespace detail {

// A handler's arguments without the error, which is thrown.
template <class... Args>
struct operation_result {
    using type = std::tuple<Args...>;
};
template <>
struct operation_result<> {
    using type = void;
};
template <class T>
struct operation_result<T> {
    using type = T;
};
template <class... Rest>
struct operation_result<boost::system::error_code, Rest...> : operation_result<Rest...> {};
template <>
struct operation_result<boost::system::error_code> : operation_result<> {};
template <class... Rest>
struct operation_result<std::exception_ptr, Rest...> : operation_result<Rest...> {};
template <>
struct operation_result<std::exception_ptr> : operation_result<> {};

// Returns true unless the exception is operation_aborted, the mere effect of the cancel.
[[nodiscard]] bool is_failure(const std::exception_ptr& error) noexcept;

template <class T>
inline constexpr bool is_tuple = false;
template <class... A>
inline constexpr bool is_tuple<std::tuple<A...>> = true;
template <class T>
inline constexpr bool is_transfer_tuple = std::is_same_v<T, std::tuple<boost::system::error_code, std::size_t>>;

// Classifies a handler's arguments. Those of an adapter that hides the error count as a result: only the caller can
// interpret them.
template <class... Args>
[[nodiscard]] ended_as ending_of(const std::tuple<Args...>& given) noexcept {
    if constexpr (sizeof...(Args) == 0) {
        return ended_as::result;
    } else {
        using first = std::tuple_element_t<0, std::tuple<Args...>>;
        if constexpr (std::is_same_v<first, std::exception_ptr>) {
            const std::exception_ptr& error = std::get<0>(given);
            return !error ? ended_as::result : is_failure(error) ? ended_as::failure : ended_as::aborted;
        } else if constexpr (std::is_same_v<first, boost::system::error_code>) {
            return std::get<0>(given) == boost::asio::error::operation_aborted ? ended_as::aborted : ended_as::result;
        } else if constexpr (is_transfer_tuple<first>) {  // as_tuple: the body sees how many bytes were moved before
            return std::get<1>(std::get<0>(given)) != 0 ? ended_as::result : ending_of(std::get<0>(given));
        } else if constexpr (is_tuple<first>) {
            return ending_of(std::get<0>(given));
        } else {
            return ended_as::result;
        }
    }
}

// Stores the handler's arguments.
template <class... Args>
class typed_operation : public operation {
public:
    typed_operation(promise_base& me, bool ends_at_stop) noexcept : operation(me, how_ended, ends_at_stop) {}

    template <class... Given>
    void store(Given&&... given) noexcept {
        try {
            arguments_.emplace(std::forward<Given>(given)...);
        } catch (...) {
            keep_error(std::current_exception());
        }
    }

protected:
    typename operation_result<Args...>::type take() {
        finish();
        return unpack(std::move(*arguments_));
    }

private:
    using arguments = std::tuple<Args...>;
    static constexpr bool has_exception = [] {
        if constexpr (sizeof...(Args) > 0) {
            return std::is_same_v<std::tuple_element_t<0, arguments>, std::exception_ptr>;
        }
        return false;
    }();
    static constexpr bool has_code = [] {
        if constexpr (sizeof...(Args) > 0) {
            return std::is_same_v<std::tuple_element_t<0, arguments>, boost::system::error_code>;
        }
        return false;
    }();

    static ended_as how_ended(const operation& self) noexcept {
        const auto& mine = static_cast<const typed_operation&>(self);
        return mine.arguments_ ? ending_of(*mine.arguments_) : ended_as::aborted;
    }
    static auto unpack(arguments all) -> typename operation_result<Args...>::type {
        if constexpr (has_code) {
            if (std::get<0>(all)) {
                throw boost::system::system_error(std::get<0>(all));
            }
        } else if constexpr (has_exception) {
            if (std::get<0>(all)) {
                std::rethrow_exception(std::get<0>(all));
            }
        }
        constexpr std::size_t skipped = has_code || has_exception ? 1 : 0;
        constexpr std::size_t left = sizeof...(Args) - skipped;
        if constexpr (left == 1) {
            return std::move(std::get<skipped>(all));
        } else if constexpr (left > 1) {
            return rest<skipped>(all, std::make_index_sequence<left>());
        }
    }
    template <std::size_t Skipped, std::size_t... I>
    static auto rest(arguments& all, std::index_sequence<I...>) {
        return std::make_tuple(std::move(std::get<I + Skipped>(all))...);
    }

    std::optional<arguments> arguments_;
};

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

    using cancellation_slot_type = boost::asio::cancellation_slot;
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return to_ == nullptr ? cancellation_slot_type() : to_->slot();
    }
    [[nodiscard]] boost::asio::any_io_executor executor_for(const boost::asio::any_io_executor& offered) const noexcept {
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
        if (const boost::asio::any_io_executor known = call_->take_executor()) {
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
    operation_call(use_task_t token, boost::asio::any_io_executor bound, I&& initiation, Given&&... given)
        : token_(token),
          bound_(std::move(bound)),
          initiation_(std::forward<I>(initiation)),
          arguments_(std::forward<Given>(given)...) {}

    [[nodiscard]] auto in_task(promise_base& me) && {
        return operation_await<operation_call, std::decay_t<Args>...>(me, *this);
    }

    [[nodiscard]] use_task_t token() const noexcept { return token_; }
    // Returns the bound executor, else that of the I/O object if the initiation has one, else an empty one.
    [[nodiscard]] boost::asio::any_io_executor take_executor() {
        if constexpr (requires(const Initiation& i) { boost::asio::any_io_executor(i.get_executor()); }) {
            if (!bound_) {
                return boost::asio::any_io_executor(initiation_.get_executor());
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
    use_task_t token_;
    boost::asio::any_io_executor bound_;
    Initiation initiation_;
    std::tuple<InitArgs...> arguments_;
};

template <class Signature, class Initiation, class... InitArgs>
[[nodiscard]] auto make_call(use_task_t token, boost::asio::any_io_executor bound, Initiation&& initiation,
                             InitArgs&&... given) {
    return operation_call<std::decay_t<Initiation>, Signature, std::decay_t<InitArgs>...>(
        token, std::move(bound), std::forward<Initiation>(initiation), std::forward<InitArgs>(given)...);
}

}  // namespace detail

}  // namespace roost::inline ROOST_ABI

template <class R, class... Args>
class boost::asio::async_result<roost::use_task_t, R(Args...)> {
public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation&& initiation, roost::use_task_t token, InitArgs&&... given) {
        return roost::detail::make_call<R(Args...)>(token, any_io_executor(), std::forward<Initiation>(initiation),
                                                    std::forward<InitArgs>(given)...);
    }
};

// The cancellation signal is emitted on the bound executor, so it has to be known here.
template <class Executor, class R, class... Args>
class boost::asio::async_result<boost::asio::executor_binder<roost::use_task_t, Executor>, R(Args...)> {
public:
    template <class Initiation, class Token, class... InitArgs>
    static auto initiate(Initiation&& initiation, Token&& token, InitArgs&&... given) {
        return roost::detail::make_call<R(Args...)>(token.get(), any_io_executor(token.get_executor()),
                                                    std::forward<Initiation>(initiation), std::forward<InitArgs>(given)...);
    }
};

template <class... Args, class Executor>
struct boost::asio::associated_executor<roost::detail::use_task_handler<Args...>, Executor> {
    using type = any_io_executor;
    static type get(const roost::detail::use_task_handler<Args...>& handler, const Executor& offered = Executor()) noexcept {
        return handler.executor_for(any_io_executor(offered));
    }
};
