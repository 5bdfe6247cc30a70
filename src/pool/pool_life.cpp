#include <roost/pool/detail/pool_life.hpp>

#include <roost/base/failure_sink.hpp>
#include <roost/pool/detail/pool_queue.hpp>

#include <utility>

namespace roost::inline ROOST_ABI::detail {

pool_life::pool_life(const node_functions& table, pool_queue& queue, pool_options options, pool_kinds how, site made_at)
    : node(table, node_name(std::string_view(options.name)), made_at),
      queue_(queue),
      settings_(std::move(options), how, made_at),
      stripes_(*this, false, settings_.options) {}

pool_life::pool_life(const node_functions& table, node& parent, pool_queue& queue, pool_options options, pool_kinds how,
                     site made_at)
    : node(table, parent, node_name(std::string_view(options.name)), made_at),
      queue_(queue),
      settings_(std::move(options), how, made_at),
      stripes_(*this, true, settings_.options) {}

gift pool_life::refusal() const noexcept {
    const stripe_state s = (stripes_.end() - 1)->look();
    if (s.is_closed()) {
        return gift::closed;
    }
    const bool is_refused = s.is_stopped() || is_stopping() || stripes_.is_above_closed();
    return is_refused ? gift::stopped : gift::nothing;
}

// --- reports -----------------------------------------------------------------------------------------------------------------

std::exception_ptr pool_life::make_error(gift why, pool_error::step operation, int stripe,
                                         std::exception_ptr cause) noexcept {
    try {
        switch (why) {
            case gift::stopped: throw pool_error(errc::refused, name(), stripe, operation, "the pool is stopped");
            case gift::closed: throw pool_error(errc::closed, name(), stripe, operation, "the pool is closed");
            case gift::failed: throw pool_error(errc::broken, name(), stripe, operation, "", std::move(cause));
            default:
                throw pool_error(errc::timed_out, name(), stripe, operation,
                                 "no resource became available before the deadline");
        }
    } catch (...) {
        return std::current_exception();  // std::bad_alloc if there is no memory for it
    }
}

std::exception_ptr pool_life::error_at(int stripe, pool_error::step operation,
                                       const std::exception_ptr& why) const noexcept {
    try {
        std::rethrow_exception(why);
    } catch (const pool_error&) {
        return why;  // has pool and operation already
    } catch (...) {
        try {
            return std::make_exception_ptr(pool_error(errc::broken, name(), stripe, operation, "", why));
        } catch (...) {
            return why;  // no memory for the wrapper
        }
    }
}

void pool_life::report(pool_error::step operation, int stripe, const std::exception_ptr& why) noexcept {
    if (!options().on_error) {
        report_failure("pool", name(), made_at(), error_at(stripe, operation, why));
        return;
    }
    try {
        try {
            std::rethrow_exception(why);
        } catch (const pool_error& known) {  // has pool and operation already
            options().on_error(known);
        } catch (...) {
            options().on_error(pool_error(errc::broken, name(), stripe, operation, "", why));
        }
    } catch (...) {
        // An exception of the hook must not affect the pool.
        report_failure("on_error of pool", name(), made_at(), std::current_exception());
    }
}

// --- the end -----------------------------------------------------------------------------------------------------------------

void pool_life::begin_aside() noexcept {
    queue_.lock();
    ++asides_;
    queue_.unlock();
}

void pool_life::end_aside() noexcept {
    pool_effects fx;
    queue_.lock();
    ROOST_ASSERT(asides_ != 0, "I8: an end without a beginning");
    --asides_;
    drain_if_done(fx);
    queue_.unlock_and_run(fx);
}

void pool_life::drain_if_done(pool_effects& fx) noexcept {
    if (!is_closing_ || has_ended_ || (!is_drained_ && !stripes_.are_drained())) {
        return;
    }
    fx.drained = !std::exchange(is_drained_, true);
    if (asides_ != 0) {
        asides_ += fx.drained ? 1 : 0;  // the end of upkeep
        return;
    }
    has_ended_ = true;
    fx.ended = true;
    closers_.lock();
    fx.closers = closers_.take_all();
    closers_.unlock();
}

bool pool_life::add_closer(waiter& w) noexcept {
    queue_.lock();
    const bool must_wait = !has_ended_;
    if (must_wait) {
        closers_.lock();
        closers_.push_back(w);
        closers_.unlock();
    }
    queue_.unlock();
    return must_wait;
}

bool pool_life::remove_closer(waiter& w, claim as) noexcept {
    closers_.lock();
    const bool claimed = closers_.take_if_queued(w, as);
    closers_.unlock();
    return claimed;
}

}  // namespace roost::inline ROOST_ABI::detail
