#include <roost/asio/detail/run_block.hpp>

#include <roost/asio/async_run.hpp>
#include <roost/asio/detail/driven_context.hpp>
#include <roost/base/error.hpp>
#include <roost/base/misuse.hpp>

namespace roost::inline ROOST_ABI::detail {

constinit const node_functions run_block::functions{
    .kind = "root scope", .destroy = destroy, .level_raised = nullptr, .drained = drained, .own = own_work::none};

run_block::run_block(executor_ref where, node_name name, site made_at)
    : scope_core(functions, where, name, made_at, silent_policy) {}

bool run_block::drained(node& self) noexcept {
    auto& mine = static_cast<run_block&>(static_cast<region&>(self));
    if (run_receiver* receiver = std::exchange(mine.receiver_, nullptr)) {
        receiver->ended();
    }
    return true;
}

std::exception_ptr aborted() noexcept {
    try {
        throw system_error(net::error::operation_aborted);
    } catch (...) {
        return std::current_exception();  // or std::bad_alloc, if there is no memory for it
    }
}

net::any_io_executor default_executor(executor_ref where) {
    if (auto* ours = dynamic_cast<io_executor*>(where.get())) {
        return ours->context().get_executor();
    }
    return net::system_executor();
}

void pass_on(run_block& to, net::cancellation_type how) noexcept {
    if ((how & (net::cancellation_type::terminal | net::cancellation_type::partial)) != net::cancellation_type::none) {
        to.node::cancel();
    } else if ((how & net::cancellation_type::total) != net::cancellation_type::none) {
        to.stop();
    }
}

task<> join_job(job which) { co_await which.join(); }

void require_runnable(net::io_context& io) {
    if (driven_context::is_driven(io)) {
        throw misuse("run() was called with an io_context that an asio_driver drives; call run() with its runtime instead");
    }
    if (io.stopped()) {
        throw error(errc::closed, "run() was called with an io_context that is stopped; call its restart() first");
    }
}
void throw_stopped() { throw error(errc::closed, "the io_context was stopped before the task had ended"); }

}  // namespace roost::inline ROOST_ABI::detail
