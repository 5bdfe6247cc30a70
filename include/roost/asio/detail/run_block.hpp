#pragma once

// The root under which async_run starts its task, and whoever is told when nothing is left of it.

#include <roost/asio/io_executor.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/scope.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// Told once, on the thread that ended the last of it. Deletes itself.
class run_receiver {
public:
    run_receiver() noexcept = default;
    run_receiver(const run_receiver&) = delete;
    run_receiver& operator=(const run_receiver&) = delete;
    virtual void ended() noexcept = 0;

protected:
    virtual ~run_receiver() = default;
};

class run_block final : public scope_core {
public:
    run_block(executor_ref where, node_name name, site made_at);

    // Before close().
    void set_receiver(run_receiver& r) noexcept { receiver_ = &r; }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    static void destroy(node& self) noexcept { delete &static_cast<run_block&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static const node_functions functions;

    run_receiver* receiver_ = nullptr;
};

template <class T, class Deliver>
class run_receiver_of final : public run_receiver {
public:
    explicit run_receiver_of(Deliver deliver) : deliver_(std::move(deliver)) {}
    void set_job(node_ref<job_block<T>> job) noexcept { job_ = std::move(job); }
    void discard() noexcept { delete this; }

    void ended() noexcept override {
        report_further_failures(*job_);  // a handler is given one error
        outcome<T> how = outcome_from<T>(*job_, {});
        job_ = {};
        Deliver deliver = std::move(deliver_);
        delete this;
        deliver(std::move(how));
    }

private:
    ~run_receiver_of() override = default;
    Deliver deliver_;
    node_ref<job_block<T>> job_;
};

// Starts t under a root that nobody else uses yet; when all has ended, deliver(outcome<T>).
template <class T, class Deliver>
void start_run(run_block& root, node_name name, task<T> t, site from, Deliver deliver) {
    run_receiver_of<T, Deliver>* receiver = nullptr;
    try {
        receiver = new run_receiver_of<T, Deliver>(std::move(deliver));
        receiver->set_job(start_job<T>(root, name, t.release_frame(), start_mode::scheduled, from));
    } catch (...) {
        if (receiver != nullptr) {
            receiver->discard();
        }
        root.close();
        throw;
    }
    root.set_receiver(*receiver);
    root.close();
}

// --- as an initiating function -----------------------------------------------------------------------------------------

template <class T>
struct run_signature_of {
    using type = void(std::exception_ptr, T);
};
template <>
struct run_signature_of<void> {
    using type = void(std::exception_ptr);
};
template <class T>
using run_signature = typename run_signature_of<T>::type;

// system_error(operation_aborted).
[[nodiscard]] std::exception_ptr aborted() noexcept;
// The context's executor when `where` is one of ours, else Asio's system executor.
[[nodiscard]] boost::asio::any_io_executor default_executor(executor_ref where);
void pass_on(run_block& to, boost::asio::cancellation_type how) noexcept;

// Calls the handler with an outcome, on the handler's executor, which is kept at work until then.
template <class T, class Handler>
class run_delivery {
public:
    run_delivery(Handler handler, const boost::asio::any_io_executor& offered)
        : handler_(std::move(handler)), executor_(tracked(boost::asio::get_associated_executor(handler_, offered))) {}

    void operator()(outcome<T> how) noexcept {
        auto executor = std::move(executor_);
        boost::asio::post(executor, call(std::move(handler_), std::move(how)));
    }
    [[nodiscard]] auto slot() const noexcept { return boost::asio::get_associated_cancellation_slot(handler_); }

private:
    template <class Executor>
    static auto tracked(const Executor& ex) {
        return boost::asio::prefer(ex, boost::asio::execution::outstanding_work.tracked);
    }
    using executor_type = decltype(tracked(boost::asio::get_associated_executor(
        std::declval<const Handler&>(), std::declval<const boost::asio::any_io_executor&>())));

    class call {
    public:
        call(Handler handler, outcome<T> how) : handler_(std::move(handler)), outcome_(std::move(how)) {}
        void operator()() {
            if (auto slot = boost::asio::get_associated_cancellation_slot(handler_); slot.is_connected()) {
                slot.clear();
            }
            const std::exception_ptr error = outcome_.is_cancelled() ? aborted() : outcome_.error();
            if constexpr (std::is_void_v<T>) {
                std::move(handler_)(error);
            } else {
                std::move(handler_)(error, error ? T() : std::move(outcome_).value());
            }
        }

    private:
        Handler handler_;
        outcome<T> outcome_;
    };

    Handler handler_;
    executor_type executor_;
};

template <class T>
class initiate_run {
public:
    initiate_run(executor_ref where, site from) noexcept : where_(where), from_(from) {}

    template <class Handler>
    void operator()(Handler&& handler, std::string name, task<T> t) const {
        using delivery = run_delivery<T, std::decay_t<Handler>>;
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        delivery deliver(std::forward<Handler>(handler), default_executor(where_));
        const auto root = node_ref<run_block>::adopt(new run_block(where_, name, from_));
        if (slot.is_connected()) {
            // Before anything can end: afterwards the slot belongs to the handler's executor.
            slot.template emplace<cancel_hook>(root);
        }
        start_run<T>(*root, name, std::move(t), from_, std::move(deliver));
    }

private:
    class cancel_hook {
    public:
        explicit cancel_hook(node_ref<run_block> root) noexcept : root_(std::move(root)) {}
        void operator()(boost::asio::cancellation_type how) const noexcept { pass_on(*root_, how); }

    private:
        node_ref<run_block> root_;
    };
    executor_ref where_;
    site from_;
};

}  // namespace roost::inline ROOST_ABI::detail
