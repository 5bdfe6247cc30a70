#pragma once

// The root under which async_run starts its task, and the receiver of its end.

#include <roost/asio/detail/net.hpp>
#include <roost/asio/io_executor.hpp>
#include <roost/task/block_on.hpp>
#include <roost/task/job.hpp>
#include <roost/task/scope.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

// ended() is called once, on the thread that ended the last part of the run. The object deletes itself.
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

    // Requires that close() was not called yet.
    void set_receiver(run_receiver& r) noexcept { receiver_ = &r; }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    static void destroy(node& self) noexcept { delete &static_cast<run_block&>(static_cast<region&>(self)); }
    static bool drained(node& self) noexcept;
    static const node_functions functions;

    run_receiver* receiver_ = nullptr;
};

// Deliver has keep(outcome<T>), called once, and try_deliver(), called until it returns true. Neither throws.
template <class T, class Deliver>
class run_receiver_of final : public run_receiver, private ext::work {
public:
    run_receiver_of(executor_ref where, Deliver deliver)
        : ext::work(+[](ext::work& self) noexcept { static_cast<run_receiver_of&>(self).deliver(); }),
          where_(where),
          deliver_(std::move(deliver)) {}
    void set_job(node_ref<job_block<T>> job) noexcept { job_ = std::move(job); }
    void discard() noexcept { delete this; }

    void ended() noexcept override {
        report_further_failures(*job_);  // a handler receives one error
        deliver_.keep(outcome_from<T>(*job_, {}));
        job_ = {};
        deliver();
    }

private:
    ~run_receiver_of() override = default;
    // Without memory to post the handler, retries in a later turn of the task's executor; that post does not allocate.
    void deliver() noexcept {
        if (deliver_.try_deliver()) {
            delete this;
        } else {
            ext::post_or_fall_back(where_, *this, "the handler of async_run");
        }
    }
    executor_ref where_;
    Deliver deliver_;
    node_ref<job_block<T>> job_;
};

// Starts t on `where` under a root that no other code uses yet. When everything has ended, `deliver` receives the outcome.
template <class T, class Deliver>
void start_run(run_block& root, executor_ref where, node_name name, task<T> t, site from, Deliver deliver) {
    run_receiver_of<T, Deliver>* receiver = nullptr;
    try {
        receiver = new run_receiver_of<T, Deliver>(where, std::move(deliver));
        receiver->set_job(start_job<T>(root, name, task_access::release_frame(t), start_mode::scheduled, from));
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

// Returns system_error(operation_aborted).
[[nodiscard]] std::exception_ptr aborted() noexcept;
// Returns the context's executor if `where` is an io_executor, else Asio's system executor.
[[nodiscard]] net::any_io_executor default_executor(executor_ref where);
void pass_on(run_block& to, net::cancellation_type how) noexcept;
[[nodiscard]] task<> join_job(job which);

// Calls the handler with an outcome, on the handler's executor, which is kept at work until then.
template <class T, class Handler>
class run_delivery {
public:
    run_delivery(Handler handler, const net::any_io_executor& offered)
        : executor_(tracked(net::get_associated_executor(handler, offered))),
          held_(std::make_shared<held>(std::move(handler))) {}

    void keep(outcome<T> how) noexcept { held_->how.emplace(std::move(how)); }
    [[nodiscard]] bool try_deliver() noexcept {
        try {
            net::post(executor_, call(held_));
            return true;
        } catch (...) {
            return false;
        }
    }

private:
    template <class Executor>
    static auto tracked(const Executor& ex) {
        return net::prefer(ex, net::execution::outstanding_work.tracked);
    }
    using executor_type = decltype(tracked(
        net::get_associated_executor(std::declval<const Handler&>(), std::declval<const net::any_io_executor&>())));

    // Allocated before the task begins, so that the handler survives a failed post.
    struct held {
        explicit held(Handler h) : handler(std::move(h)) {}
        Handler handler;
        std::optional<outcome<T>> how;
    };
    class call {
    public:
        explicit call(std::shared_ptr<held> what) noexcept : held_(std::move(what)) {}
        void operator()() {
            // Moved out, so that they are destroyed here and not by the thread that posted this.
            Handler handler = std::move(held_->handler);
            outcome<T> how = *std::move(held_->how);
            held_.reset();
            if (auto slot = net::get_associated_cancellation_slot(handler); slot.is_connected()) {
                slot.clear();
            }
            const std::exception_ptr error = how.is_cancelled() ? aborted() : how.error();
            if constexpr (std::is_void_v<T>) {
                std::move(handler)(error);
            } else {
                std::move(handler)(error, error ? T() : std::move(how).value());
            }
        }

    private:
        std::shared_ptr<held> held_;
    };

    executor_type executor_;
    std::shared_ptr<held> held_;
};

template <class T>
class initiate_run {
public:
    initiate_run(executor_ref where, site from) noexcept : where_(where), from_(from) {}

    template <class Handler>
    void operator()(Handler&& handler, std::string name, task<T> t) const {
        using delivery = run_delivery<T, std::decay_t<Handler>>;
        auto slot = net::get_associated_cancellation_slot(handler);
        delivery deliver(std::forward<Handler>(handler), default_executor(where_));
        const auto root = node_ref<run_block>::adopt(new run_block(where_, name, from_));
        if (slot.is_connected()) {
            // Before anything can end: afterwards the slot belongs to the handler's executor.
            slot.template emplace<cancel_hook>(root);
        }
        start_run<T>(*root, where_, name, std::move(t), from_, std::move(deliver));
    }

private:
    class cancel_hook {
    public:
        explicit cancel_hook(node_ref<run_block> root) noexcept : root_(std::move(root)) {}
        void operator()(net::cancellation_type how) const noexcept { pass_on(*root_, how); }

    private:
        node_ref<run_block> root_;
    };
    executor_ref where_;
    site from_;
};

}  // namespace roost::inline ROOST_ABI::detail
