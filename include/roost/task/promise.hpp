#pragma once

// A child whose result comes from outside: from a callback, another thread, another library.
//
//   auto [answer, promise] = make_promise<int>(s, "answer", external_cancel::abandon);
//   start_query(std::move(promise));               // later, on any thread: promise.set_value(42)
//   int a = co_await std::move(answer);
//
// The scope awaits this child as it awaits any other. Setting a value or an error completes it. Dropping the promise unset
// fails it with error(promise_dropped). Setting a promise twice ends the program. Any thread may use a promise, one thread
// at a time. If the scope refuses the child, as launch() would, both handles are empty. Awaiting the answer then throws
// error(refused). The caller chooses what a cancel does:
//   abandon           the child ends cancelled at once; a value set later is destroyed, and set_value() returns false
//   uninterruptible   the child runs until the promise is set; reports show it
//   a callable        called on the scope's executor, at most once. It must cause the promise to be set or dropped soon

#include <roost/base/assert.hpp>
#include <roost/task/detail/job/external_child.hpp>
#include <roost/task/scope.hpp>
#include <roost/tree/callback.hpp>

#include <concepts>
#include <exception>
#include <source_location>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

enum class external_cancel : unsigned char { abandon, uninterruptible };

template <class T>
class promise {
public:
    promise() noexcept = default;
    promise(detail::node_ref<detail::job_block<T>> child, callback on_cancel) noexcept
        : job_(std::move(child)), on_cancel_(std::move(on_cancel)) {}
    promise(promise&& other) noexcept
        : job_(std::move(other.job_)),
          on_cancel_(std::move(other.on_cancel_)),
          is_set_(std::exchange(other.is_set_, false)) {}
    promise& operator=(promise&& other) noexcept {
        if (this != &other) {
            drop();
            job_ = std::move(other.job_);
            on_cancel_ = std::move(other.on_cancel_);
            is_set_ = std::exchange(other.is_set_, false);
        }
        return *this;
    }
    ~promise() { drop(); }

    // Completes the child. Returns false if a cancel has abandoned the child; the value is destroyed. If constructing the
    // value throws, the child fails with that exception.
    template <class... Args>
    bool set_value(Args&&... args) {
        return settle([&](detail::job_block<T>& to) {
            try {
                to.emplace(std::forward<Args>(args)...);
            } catch (...) {
                to.fail(std::current_exception());
            }
        });
    }
    bool set_error(std::exception_ptr error) {
        return settle([&](detail::job_block<T>& to) { to.fail(std::move(error)); });
    }
    bool set_cancelled(reason why = reason::plain_kind(reason_kind::requested)) {
        return settle([&](detail::job_block<T>& to) { to.settle_cancelled(std::move(why)); });
    }

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(job_); }
    [[nodiscard]] bool cancel_requested() const noexcept { return job_ && job_->cancel_requested(); }
    [[nodiscard]] bool is_cancelled() const noexcept { return job_ && job_->is_cancelled(); }
    [[deprecated("use is_cancelled()")]] [[nodiscard]] bool should_stop_now() const noexcept { return is_cancelled(); }

private:
    template <class Store>
    bool settle(Store store) {
        if (!job_ || is_set_) {
            detail::panic(
                "promise", job_ ? job_->name() : std::string_view(), job_ ? job_->made_at() : site(),
                job_ ? "it has been set already: a promise is set once" : "it was moved from or refers to nothing");
        }
        is_set_ = true;
        on_cancel_.reset();
        if (!job_->claim_outcome()) {
            return false;
        }
        store(*job_);
        job_->end_body();
        return true;
    }
    void drop() noexcept {
        if (job_ && !is_set_) {
            set_error(detail::dropped_promise(job_->name()));
        }
        job_ = {};
    }

    detail::node_ref<detail::job_block<T>> job_;
    callback on_cancel_;
    bool is_set_ = false;
};

template <class T>
[[nodiscard]] std::pair<deferred<T>, promise<T>> make_promise(scope& in, node_name name, external_cancel how,
                                                              std::source_location where = std::source_location::current()) {
    return detail::start_external<T>(in, name, where, [&](detail::job_core& child) {
        return how == external_cancel::uninterruptible
                   ? callback()
                   : callback(token(child), level::cancel, in.executor(),
                              detail::abandon_external(detail::node_ref<detail::job_core>::share(child)));
    });
}
template <class T, std::invocable<> Hook>
[[nodiscard]] std::pair<deferred<T>, promise<T>> make_promise(scope& in, node_name name, Hook on_cancel,
                                                              std::source_location where = std::source_location::current()) {
    return detail::start_external<T>(in, name, where, [&](detail::job_core& child) {
        return callback(token(child), level::cancel, in.executor(), std::move(on_cancel));
    });
}

}  // namespace roost::inline ROOST_ABI
