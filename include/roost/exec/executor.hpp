#pragma once

#include <roost/exec/work.hpp>

#include <concepts>
#include <string_view>

namespace roost::inline ROOST_ABI {

class timer_service;
class blocking_service;

// What the core asks of any runtime: take this work and run it later, never inside post().
// Posting works from any thread, allocates nothing, and says false when the executor is closed and did not take it.
class executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;

    virtual bool post(work& w) noexcept = 0;
    // Posts them all, in order; what is left in `all` afterwards was refused. Whoever wakes many at once calls it for executors
    // that say they take chains; those override it.
    [[nodiscard]] bool takes_chains() const noexcept { return takes_chains_; }
    virtual void post_all(work_list& all) noexcept {
        while (work* w = all.pop()) {
            if (!post(*w)) {
                all.push_front(*w);
                return;
            }
        }
    }
    // Like post, but behind everything already queued: for whoever gives others a turn.
    virtual bool post_last(work& w) noexcept { return post(w); }
    // For whoever waits for posted work that may not have begun: hands it over when it would be the next thing that this
    // thread runs here, and the caller runs it. `w` may be gone meanwhile: it is compared, not looked at. False is always
    // right.
    virtual bool take_next(const work& w) noexcept {
        static_cast<void>(w);
        return false;
    }
    // Null when this executor has no timers of its own.
    virtual timer_service* timers() noexcept { return nullptr; }
    // Null when this executor has no threads for work that blocks.
    virtual blocking_service* blocking() noexcept { return nullptr; }
    // Whether the calling thread is currently running this executor's work.
    [[nodiscard]] virtual bool is_here() const noexcept { return false; }
    [[nodiscard]] virtual std::string_view name() const noexcept { return "executor"; }

protected:
    struct chains_t {};
    explicit constexpr executor(chains_t) noexcept : takes_chains_(true) {}
    ~executor() = default;

private:
    bool takes_chains_ = false;
};

// Anything with the one operation: a user's thread pool, an event loop.
template <class E>
concept can_post = requires(E& e, work& w) {
    { e.post(w) } noexcept -> std::convertible_to<bool>;
};

// Makes an executor of anything that can post.
template <can_post E>
class executor_adapter final : public executor {
public:
    explicit executor_adapter(E& target) noexcept : target_(&target) {}
    bool post(work& w) noexcept override { return target_->post(w); }

private:
    E* target_;
};

// One pointer, copyable, may be empty. The executor must outlive what runs on it.
class executor_ref {
public:
    constexpr executor_ref() noexcept : target_(nullptr) {}
    constexpr explicit executor_ref(unset_t) noexcept {}
    constexpr explicit(false) executor_ref(executor& target) noexcept : target_(&target) {}

    [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
    [[nodiscard]] executor* get() const noexcept { return target_; }
    [[nodiscard]] executor* operator->() const noexcept { return target_; }
    bool post(work& w) const noexcept { return target_->post(w); }
    friend bool operator==(executor_ref, executor_ref) noexcept = default;

private:
    executor* target_;
};

// Runs work where it is posted, inside post(). Only ever an explicit choice: whoever picks it accepts that set(), release()
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

namespace detail {
void fall_back(executor_ref to, work& w, std::string_view what) noexcept;
}

// Where refused work runs: see set_fallback_executor(). Posts w to `to`, or to the fallback when `to` is closed, or ends the
// program naming `what` when there is neither: silently losing a wake is never an option. `what` is only looked at when the
// post is refused, so the length of a plain string is not counted for nothing.
template <class What>
void post_or_fall_back(executor_ref to, work& w, What what) noexcept {
    if (!to || !to.post(w)) [[unlikely]] {
        detail::fall_back(to, w, std::string_view(what));
    }
}
executor_ref set_fallback_executor(executor_ref fallback) noexcept;

}  // namespace roost::inline ROOST_ABI
