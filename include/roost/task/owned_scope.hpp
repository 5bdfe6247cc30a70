#pragma once

// A scope that belongs to an object instead of a block.
//
//   class feed {
//       owned_scope work_;                                 // feed(executor_ref on) : work_(on, "feed")
//   public:
//       void refresh() { work_.launch("refresh", load()); }
//       task<> close() { co_await work_.close(); }         // has to be called before the object goes
//   };
//
// close() refuses what comes later, waits for every child and throws the first failure; a failed child cancels the others,
// as in with_scope. Like leaving a scope it can't be abandoned: a cancel or abort of whoever waits is passed on to the children,
// and the wait goes on. A job below the scope can't close it, because it would wait for itself: error(would_deadlock).
// Destroying it unclosed prints its tree and ends the program, in every build: the children would outlive what they use.

#include <roost/task/root.hpp>
#include <roost/task/task.hpp>

namespace roost::inline ROOST_ABI {

class owned_scope final : public scope {
public:
    explicit owned_scope(executor_ref where, node_name name, std::source_location made_at = std::source_location::current());
    // Below a node, for example that of a shutdown handle: see root_scope.
    owned_scope(node& parent, executor_ref where, node_name name,
                std::source_location made_at = std::source_location::current());
    ~owned_scope();

    [[nodiscard]] task<> close();
    // For threads that run none of its work: in a job, or on a thread of its executor, this ends the program unless nothing is
    // left to wait for.
    void close_blocking() { close_blocking_on(core().where()); }
    [[nodiscard]] bool is_closed() const noexcept { return block_->ended.is_set(); }
    // What lives in it, as text.
    [[nodiscard]] std::string to_string() const;

private:
    explicit owned_scope(detail::root_block* block) noexcept : scope(*block, admission::outsider), block_(block) {}
    friend class closing_executor;
    void close_blocking_on(executor_ref where);  // the one whose threads do the work
    void rethrow();

    detail::root_block* block_;
    atomic<bool> told_{false};  // to a closer; there may be several
};

}  // namespace roost::inline ROOST_ABI
