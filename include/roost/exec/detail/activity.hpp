#pragma once

#include <roost/base/atomic.hpp>
#include <roost/base/site.hpp>

#include <string_view>

// What a thread is running, readable from another thread: a runtime's soft budget watches it.
//
// id  operation                     order    pairs  carries                                            fails in
// A1  running_as: current_ store    release  A3     the label's text                                   activity_model: pinned_text
// A2  ~running_as: pinned_ load     acquire  A5     the watcher's reads are over before the label dies activity_model: pinned_text
// A3  look: current_ load           acquire  A1     the label's text                                   activity_model: pinned_text
// A4  look: pinned_ store           relaxed  A2     nothing: the barrier pair orders it                activity_model: pinned_text
// A5  look: pinned_ clear           release  A2     the watcher's reads                                activity_model: pinned_text
// A6  current: current_ load        relaxed  -      nothing: the thread's own store                    (floor)
//
// A3 survives acquire->relaxed: each of the two loads covers for the other, unless a new label has the address of the old one

namespace roost::inline ROOST_ABI::detail {

// Name and site of something that runs. Lives inside it.
class activity_label {
public:
    constexpr activity_label() noexcept = default;
    constexpr activity_label(const char* name, roost::site where, roost::site continued = {}) noexcept
        : name_(name), where_(where), continued_(continued) {}
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] roost::site site() const noexcept { return where_; }
    // Returns the line of the await that it continued from when it began to run; unknown if it has just started.
    [[nodiscard]] roost::site continued_at() const noexcept { return continued_; }

private:
    const char* name_ = "";
    roost::site where_;
    roost::site continued_;
};

// One per thread. The running thread pays two plain stores and a load per scope; the watcher pays a heavy barrier.
class activity {
public:
    [[nodiscard]] static activity& of_this_thread() noexcept { return thread_value<activity, activity>::get(); }

    // Returns what the calling thread is running. Empty outside of every running_as scope.
    [[nodiscard]] static activity_label here() noexcept {
        const activity_label* current = of_this_thread().current_.load(mo::relaxed);  // A6
        return current == nullptr ? activity_label() : *current;
    }

    // Calls see(const activity_label&) if the thread is inside a running_as scope, and returns true. The scope cannot end
    // before see() has returned or thrown. Returns false without has_heavy_barrier(). Requires one watcher at a time.
    template <class See>
    bool look(See see) {
        const activity_label* seen = current_.load(mo::acquire);  // A3
        if (seen == nullptr || !has_heavy_barrier()) {
            return false;
        }
        const pin held(pinned_, seen);
        heavy_barrier();
        const bool still = current_.load(mo::acquire) == seen;  // A3
        if (still) {
            see(*seen);
        }
        return still;
    }

    // For the thread itself. Returns the label of the innermost running_as scope; its address marks a position on the stack.
    [[nodiscard]] const activity_label* current() const noexcept { return current_.load(mo::relaxed); }  // A6

private:
    friend class running_as;

    class pin {
    public:
        pin(atomic<const activity_label*>& slot, const activity_label* label) noexcept : slot_(slot) {
            slot_.store(label, mo::relaxed);  // A4
        }
        pin(const pin&) = delete;
        pin& operator=(const pin&) = delete;
        ~pin() { slot_.store(nullptr, mo::release); }  // A5

    private:
        atomic<const activity_label*>& slot_;
    };

    atomic<const activity_label*> current_{nullptr};
    atomic<const activity_label*> pinned_{nullptr};
};

// Sets what the calling thread is running, until the end of the scope. The label must outlive the scope.
class running_as {
public:
    explicit running_as(const activity_label& label) noexcept
        : mine_(activity::of_this_thread()), label_(&label), outer_(mine_.current_.load(mo::relaxed)) {  // A4
        mine_.current_.store(label_, mo::release);  // A1
    }
    running_as(const running_as&) = delete;
    running_as& operator=(const running_as&) = delete;
    ~running_as() {
        mine_.current_.store(outer_, mo::release);  // A1
        light_barrier();
        while (mine_.pinned_.load(mo::acquire) == label_) [[unlikely]] {  // A2
            yield_thread();
        }
    }

private:
    activity& mine_;
    const activity_label* label_;
    const activity_label* outer_;
};

}  // namespace roost::inline ROOST_ABI::detail
