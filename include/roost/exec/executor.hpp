#pragma once

#include <roost/exec/detail/fall_back.hpp>
#include <roost/exec/work.hpp>

#include <concepts>
#include <string_view>
#include <system_error>

namespace roost::inline ROOST_ABI {

namespace ext {
class timer_service;
class blocking_service;
class reactor;
}  // namespace ext

// The interface that the core requires of a runtime: takes work and runs it later. post() does not run it,
// except in ext::inline_executor.
class executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;

    // Enqueues w. Returns false, and leaves w untouched, if the executor is closed. An override is thread-safe and does not
    // allocate.
    virtual bool post(ext::work& w) noexcept = 0;
    // Returns true if this executor was made with chains_t, because it overrides post_all(). Then waking several waiters posts
    // them as one list.
    [[nodiscard]] bool takes_chains() const noexcept { return takes_chains_; }
    // Posts every item of `all`, in order. Items that remain in `all` were refused.
    virtual void post_all(ext::work_list& all) noexcept {
        while (ext::work* w = all.pop()) {
            if (!post(*w)) {
                all.push_front(*w);
                return;
            }
        }
    }
    // As post(), but behind everything that is already queued. For work that yields to other work.
    virtual bool post_last(ext::work& w) noexcept { return post(w); }
    // If this thread would run w next, takes it out of the queue and returns true. The caller then runs it. An override
    // compares addresses only: an item that has run may already be destroyed. Returning false is always correct.
    virtual bool take_next(const ext::work& w) noexcept {
        static_cast<void>(w);
        return false;
    }
    // Returns null if this executor has no timers.
    virtual ext::timer_service* timers() noexcept { return nullptr; }
    // Returns null if this executor has no threads for work that blocks.
    virtual ext::blocking_service* blocking() noexcept { return nullptr; }
    // Returns where descriptors are registered for events (exec/driver.hpp). Returns null if nothing has made a reactor yet, or
    // this executor has no driver. Thread-safe.
    virtual ext::reactor* reactor() noexcept { return nullptr; }
    // As reactor(), but makes one if there is none. Returns null, with the reason in `why`, if this executor has no driver or
    // cannot make one. Thread-safe.
    virtual ext::reactor* make_reactor(std::error_code& why) noexcept {
        why = std::make_error_code(std::errc::operation_not_supported);
        return nullptr;
    }
    // Returns true if the calling thread may run work of this executor at once. It may not inside the executor's driver.
    [[nodiscard]] virtual bool is_here() const noexcept { return false; }
    // Returns true if the calling thread is one that runs work of this executor, also inside the executor's driver. Such a
    // thread must not block until that work has run.
    [[nodiscard]] virtual bool owns_this_thread() const noexcept { return is_here(); }
    [[nodiscard]] virtual std::string_view name() const noexcept { return "executor"; }

protected:
    struct chains_t {};
    explicit constexpr executor(chains_t) noexcept : takes_chains_(true) {}
    ~executor() = default;

private:
    bool takes_chains_ = false;
};

// A pointer to an executor, or empty. The executor must outlive what runs on it.
class executor_ref {
public:
    constexpr executor_ref() noexcept : target_(nullptr) {}
    constexpr explicit executor_ref(seam::unset_t) noexcept {}
    constexpr explicit(false) executor_ref(executor& target) noexcept : target_(&target) {}

    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
    [[nodiscard]] executor* get() const noexcept { return target_; }
    [[nodiscard]] executor* operator->() const noexcept { return target_; }
    bool post(ext::work& w) const noexcept { return target_->post(w); }
    friend bool operator==(executor_ref, executor_ref) noexcept = default;

private:
    executor* target_;
};

namespace ext {

// A type with post(work&): a user's thread pool, an event loop.
template <class E>
concept can_post = requires(E& e, work& w) {
    { e.post(w) } noexcept -> std::convertible_to<bool>;
};

// Makes an executor of a type that can post. The target must outlive the adapter.
template <can_post E>
class executor_adapter final : public executor {
public:
    explicit executor_adapter(E& target) noexcept : target_(&target) {}
    bool post(work& w) noexcept override { return target_->post(w); }

private:
    E* target_;
};

// Runs work inside post(), on the calling thread. It is never the default. Where it is used, the calls set(), release()
// and cancel() run the woken code on the caller's stack.
class inline_executor final : public executor {
public:
    bool post(work& w) noexcept override {
        w.run();
        return true;
    }
    [[nodiscard]] bool is_here() const noexcept override { return true; }
    [[nodiscard]] std::string_view name() const noexcept override { return "inline executor"; }
};

// Posts w to `to`, or to the fallback executor if `to` is empty or closed. Without an open fallback, ends the program with
// the name `what`, because a wake would be lost. Reads `what` only when the post is refused.
template <class What>
void post_or_fall_back(executor_ref to, work& w, What what) noexcept {
    if (!to || !to.post(w)) [[unlikely]] {
        detail::fall_back(to, w, std::string_view(what));
    }
}
// Installs the executor that runs refused work; empty: none. Returns the previous one. Thread-safe.
executor_ref set_fallback_executor(executor_ref fallback) noexcept;

}  // namespace ext

}  // namespace roost::inline ROOST_ABI
