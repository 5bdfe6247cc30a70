#pragma once

#include <roost/shutdown/completion.hpp>
#include <roost/shutdown/detail/report_of.hpp>
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
    shutting_down,  // stopped, and the subtree has work left
    complete,       // stopped, and the subtree has no work left
};

// A handle to a node that can be stopped and drained. Copies refer to the same node. A handle is not work: it delays no
// completion.
//
//   roost::shutdown server("server");
//   auto g = server.guard();                              work in progress
//   auto order = co_await server.interrupt(orders.receive());   std::optional: empty if stop came first
//   auto connection = server.child("connection");         a node below: stopped with the server, counted by it
//   if (!server.shut_down().wait_blocking(deadline)) { log(server.report().to_string()); server.cancel(); }
//
// Destroying the last handle of a root stops it. Destroying the last handle of a child does not stop it; its guards still
// count as work of its ancestors. Thread-safe per node: different handles may be used by different threads at once. A single
// handle object is not thread-safe. A call on a moved-from handle ends the program.
class shutdown {
public:
    // Creates a root. Throws std::bad_alloc.
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

    // Creates a child of this node. The child of a stopped node is stopped from the start. The cost does not depend on the
    // number of siblings. Throws std::bad_alloc.
    [[nodiscard]] shutdown child(node_name name = "child",
                                 std::source_location where = std::source_location::current()) const {
        return shutdown(detail::shutdown_node::make_child(live(), name, where));
    }

    // --- work ----------------------------------------------------------------------------------------------------------
    // Returns a guard: one unit of work. Also succeeds on a stopped or complete node. Such a guard counts, and delays every
    // completion that is not yet resolved.
    [[nodiscard]] roost::guard guard(std::source_location where = std::source_location::current()) const noexcept {
        auto&& mine = detail::guards_of_this_thread();
        detail::count_guard(mine);
        if (detail::is_sampled(mine)) [[unlikely]] {
            live().sample(detail::notice_own_guards());
        }
        return detail::shutdown_access::make_guard(live(), where, mine);
    }
    // Returns a guard, or an empty optional if this node or an ancestor is stopped, or this node is closed. Every completion of
    // this node that resolves later waits for the returned guard.
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
        return detail::shutdown_access::adopt_guard(live(), where, mine);
    }
    // Returns x together with a guard. The guard lives as long as the returned object.
    template <class T>
    [[nodiscard]] roost::guarded<std::decay_t<T>> guarded(
        T&& x, std::source_location where = std::source_location::current()) const {
        return roost::guarded<std::decay_t<T>>(std::forward<T>(x), guard(where));
    }
    // Returns x wrapped so that it ends on stop. interrupt.hpp lists what x may be.
    template <class T>
    [[nodiscard]] roost::interrupt<std::decay_t<T>> interrupt(T&& x) const {
        return roost::interrupt<std::decay_t<T>>(std::forward<T>(x), live());
    }

    // Counts guards per thread from now until stop, for a node on which many threads create guards. A node also switches by
    // itself when it detects contention. Allocates two kilobytes; without memory the node stays as it is. Has no effect if the
    // kernel has no membarrier.
    void expect_contention() const noexcept { live().stripe(); }

    // --- stopping --------------------------------------------------------------------------------------------------------
    // Stops the node and its subtree. The level is set in the whole subtree when this returns. Returns the completion, which
    // may be ignored. The first reason is kept. May be called again.
    shutdown_completion shut_down(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept {
        live().stop(std::move(why));
        if (live().parent() == nullptr) {
            detail::notice_all_guards();  // ages in reports count at least from now on
        }
        return completion();
    }
    // Cancels the jobs below, for work that did not end in time. abort() also cancels shielded jobs.
    void cancel(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept { live().cancel(std::move(why)); }
    void abort(reason why = reason::plain_kind(reason_kind::shutdown)) const noexcept { live().abort(std::move(why)); }

    // --- waiting ---------------------------------------------------------------------------------------------------------
    // Returns a completion, which resolves when the node is stopped and drained. Does not request the stop.
    [[nodiscard]] shutdown_completion completion() const noexcept { return shutdown_completion(live()); }
    // Returns a notice, which resolves when the node is stopped. Does not request the stop.
    [[nodiscard]] shutdown_notice shutting_down() const noexcept { return shutdown_notice(live()); }
    // co_await std::move(s), std::move(s).wait_blocking(): destroys this handle, then waits for the completion. If it was
    // the last handle of a root, the root is stopped, and the wait ends with its work.
    [[nodiscard]] shutdown_completion::operation operator co_await() && noexcept { return give_up().wait(); }
    template <class Self = void>
    shutdown_completion::operation operator co_await() const& noexcept {
        static_assert(
            !std::is_void_v<Self>,
            "co_await std::move(s) destroys the handle and waits for its completion; to keep the handle write co_await "
            "s.completion()");
        return completion().wait();
    }
    void wait_blocking() && noexcept { give_up().wait_blocking(); }
    // Returns true if the completion resolved, false if the deadline passed first.
    bool wait_blocking(time_limit deadline) && noexcept { return give_up().wait_blocking(deadline); }

    // --- observing -------------------------------------------------------------------------------------------------------
    [[nodiscard]] shutdown_state state() const noexcept {
        if (!live().is_stopping()) {
            return shutdown_state::running;
        }
        live().settle();
        return live().is_complete() ? shutdown_state::complete : shutdown_state::shutting_down;
    }
    // Returns the number of guards, running jobs and other units of work in the subtree. Leases do not count, but a job or
    // scope that only leases hold counts as one. Exact while the subtree does not change. During changes, each node
    // contributes a number that it had at some moment of the call. A guard held during the whole call is counted exactly once.
    // Nodes created during the call are not counted if they are at most 16 generations below this node. O(subtree).
    [[nodiscard]] std::size_t guard_count() const noexcept { return live().guards_in_subtree(); }
    // Returns the outstanding work, grouped by kind, name and site. Throws std::bad_alloc. O(subtree + guards of the program).
    [[nodiscard]] shutdown_report report() const { return detail::report_of(live()); }
    [[nodiscard]] std::string_view name() const noexcept { return live().name(); }
    [[nodiscard]] token observe() const noexcept { return token(live()); }
    // Returns the tree node, for scopes and pools that attach their own nodes below it.
    [[nodiscard]] node tree_node() const noexcept { return live(); }

    friend bool operator==(const shutdown& a, const shutdown& b) noexcept { return a.node_ == b.node_; }

private:
    explicit shutdown(detail::shutdown_node* made) noexcept : node_(made) {}
    void reset() noexcept {
        if (detail::shutdown_node* held = std::exchange(node_, nullptr)) {
            held->drop_handle();
        }
    }
    [[noreturn]] static void panic_moved_from() noexcept;
    [[nodiscard]] detail::shutdown_node& live() const noexcept {
        if (node_ == nullptr) [[unlikely]] {
            panic_moved_from();
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
