#pragma once

#include <roost/shutdown/completion.hpp>
#include <roost/shutdown/guard.hpp>
#include <roost/shutdown/guarded.hpp>
#include <roost/shutdown/interrupt.hpp>
#include <roost/shutdown/log.hpp>
#include <roost/shutdown/report.hpp>

#include <cstddef>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

enum class shutdown_state : std::uint8_t {
    running,
    shutting_down,  // stopped, and some work is left
    complete,       // stopped, and none is left
};
[[nodiscard]] constexpr bool is_running(shutdown_state s) noexcept { return s == shutdown_state::running; }
[[nodiscard]] constexpr bool is_shutting_down(shutdown_state s) noexcept { return s == shutdown_state::shutting_down; }
[[nodiscard]] constexpr bool is_complete(shutdown_state s) noexcept { return s == shutdown_state::complete; }

namespace detail {
[[noreturn]] void moved_from_handle() noexcept;
}

// A handle to a node that can be stopped and drained. Copies name the same node. A handle is no work and delays nobody.
//
//   roost::shutdown server("server");
//   auto g = server.guard();                              work in progress
//   auto job = co_await server.interrupt(jobs.receive());   std::optional: empty when it was stopped
//   auto connection = server.child("connection");         a node below: stopped with the server, counted by it
//   if (!server.shut_down().wait_blocking(deadline)) { log(server.report().to_string()); server.cancel(); }
//
// Dropping the last handle of a root asks it to stop. Dropping the last handle of a child asks nothing; its guards go on
// counting above. All calls from any thread; one handle object is not for several threads at once.
class shutdown {
public:
    // A fresh root.
    explicit shutdown(node_name name = "shutdown", std::source_location where = std::source_location::current())
        : node_(detail::shutdown_node::make_root(name, where)) {}
    shutdown(const shutdown& other) noexcept : node_(other.node_) {
        if (node_ != nullptr) {
            node_->add_handle();
        }
    }
    shutdown(shutdown&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    shutdown& operator=(shutdown other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~shutdown() { reset(); }

    // A node below this one. Under a stopped node it is born stopped. Costs the same however many there are.
    [[nodiscard]] shutdown child(node_name name = "child",
                                 std::source_location where = std::source_location::current()) const {
        return shutdown(detail::shutdown_node::make_child(live(), name, where));
    }

    // --- work ----------------------------------------------------------------------------------------------------------
    // Also on a stopped or complete node: it counts, and delays whatever completion has not been resolved.
    [[nodiscard]] roost::guard guard(std::source_location where = std::source_location::current()) const noexcept {
        auto&& mine = detail::guards_of_this_thread();
        detail::count_guard(mine);
        if (detail::is_sampled(mine)) [[unlikely]] {
            live().sample(detail::notice_own_guards());
        }
        return roost::guard(live(), where, mine);
    }
    // Empty from stop on; whoever gets one is waited for by every completion that is not resolved.
    [[nodiscard]] std::optional<roost::guard> try_guard(
        std::source_location where = std::source_location::current()) const noexcept {
        auto&& mine = detail::guards_of_this_thread();
        detail::count_guard(mine);
        if (detail::is_sampled(mine)) [[unlikely]] {
            live().sample(detail::notice_own_guards());
        }
        if (!live().try_enter_guard(mine)) {
            return std::nullopt;
        }
        return roost::guard::adopt(live(), where, mine);
    }
    // x, and a guard for as long as it lives.
    template <class T>
    [[nodiscard]] roost::guarded<std::decay_t<T>> guarded(
        T&& x, std::source_location where = std::source_location::current()) const {
        return roost::guarded<std::decay_t<T>>(std::forward<T>(x), guard(where));
    }
    // x that ends when stop comes: see interrupt.hpp for what x may be.
    template <class T>
    [[nodiscard]] roost::interrupt<std::decay_t<T>> interrupt(T&& x) const {
        return roost::interrupt<std::decay_t<T>>(std::forward<T>(x), live());
    }

    // Says that many threads will put guards on this node: they are counted per thread from now on until stop. A node finds
    // out by itself, too. Costs two kilobytes; has no effect where the kernel has no membarrier.
    void expect_contention() const noexcept { live().stripe(); }

    // --- stopping --------------------------------------------------------------------------------------------------------
    // The whole subtree is latched when this returns. The completion may be ignored.
    shutdown_completion shut_down(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept {
        live().stop(std::move(why));
        if (live().parent() == nullptr) {
            detail::notice_all_guards();  // whoever keeps the program from ending says so at least from now on
        }
        return completion();
    }
    // For what did not end in time: jobs below are cancelled; abort also pierces shields.
    void cancel(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept { live().cancel(std::move(why)); }
    void abort(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept { live().abort(std::move(why)); }

    // --- waiting ---------------------------------------------------------------------------------------------------------
    // Resolved when it is stopped and drained; does not ask for it.
    [[nodiscard]] shutdown_completion completion() const noexcept { return shutdown_completion(live()); }
    // Resolved when stop has been asked for.
    [[nodiscard]] shutdown_notice shutting_down() const noexcept { return shutdown_notice(live()); }
    // co_await std::move(s), std::move(s).wait_blocking(): gives up this handle, then waits for the completion. Giving up the
    // last handle of a root stops it, so that this ends.
    [[nodiscard]] shutdown_completion::operation operator co_await() && noexcept { return give_up().wait(); }
    template <class Self = void>
    shutdown_completion::operation operator co_await() const& noexcept {
        static_assert(
            !std::is_void_v<Self>,
            "co_await std::move(s) gives up the handle and waits for its completion; to keep the handle say co_await "
            "s.completion()");
        return completion().wait();
    }
    void wait_blocking() && noexcept { give_up().wait_blocking(); }
    // Returns false when the deadline passed.
    bool wait_blocking(time_limit deadline) && noexcept { return give_up().wait_blocking(deadline); }

    // --- observing -------------------------------------------------------------------------------------------------------
    [[nodiscard]] shutdown_state state() const noexcept {
        if (!live().is_stopping()) {
            return shutdown_state::running;
        }
        live().settle();
        return live().is_complete() ? shutdown_state::complete : shutdown_state::shutting_down;
    }
    // Guards, running jobs and other work in the subtree. Exact at rest. While guards come and go, each node's share is a number it
    // had during the call, so a guard that is held all the time is counted once; nodes made meanwhile are left out. O(subtree).
    [[nodiscard]] std::size_t guard_count() const noexcept { return live().guards_in_subtree(); }
    // Who is holding it up. Always available; O(subtree + guards of the program).
    [[nodiscard]] shutdown_report report() const { return detail::report_of(live()); }
    [[nodiscard]] std::string_view name() const noexcept { return live().name(); }
    [[nodiscard]] token observe() const noexcept { return token(live()); }
    // For views that put their own nodes below: scopes, pools.
    [[nodiscard]] node& tree_node() const noexcept { return live(); }

    friend bool operator==(const shutdown& a, const shutdown& b) noexcept { return a.node_ == b.node_; }

private:
    explicit shutdown(detail::shutdown_node* made) noexcept : node_(made) {}
    void reset() noexcept {
        if (detail::shutdown_node* held = std::exchange(node_, nullptr)) {
            held->drop_handle();
        }
    }
    [[nodiscard]] detail::shutdown_node& live() const noexcept {
        if (node_ == nullptr) [[unlikely]] {
            detail::moved_from_handle();
        }
        return *node_;
    }
    [[nodiscard]] shutdown_completion give_up() noexcept {
        shutdown_completion c = completion();
        reset();
        return c;
    }

    detail::shutdown_node* node_;  // null: moved from
};

}  // namespace roost::inline ROOST_ABI
