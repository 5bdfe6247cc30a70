#include <roost/flow/select.hpp>

#include <cstdio>

namespace roost::inline ROOST_ABI {

wrong_clause::wrong_clause(std::size_t asked, std::size_t happened) noexcept {
    std::snprintf(text_, sizeof text_, "select: get<%zu>() was called, but clause %zu happened; write switch (got.index())",
                  asked, happened);
}

}  // namespace roost::inline ROOST_ABI

namespace roost::inline ROOST_ABI::detail {

// A cancel competes like any clause: the winner of the choice has the wait.
constinit const wait_functions select_core::functions{
    +[](cancellable& self) noexcept {
        select_core& mine = static_cast<select_core&>(self);
        return mine.try_win(&mine);
    },
    +[](const cancellable&) noexcept { return wait_target("select", ""); }};

select_core::select_core(promise_base& me) noexcept : cancellable(me, functions) {}

resume_target select_core::target() noexcept {
    constexpr work::run_function woken =
        +[](work& w) noexcept { static_cast<select_core&>(static_cast<waiter&>(w).of_choice()).resume(); };
    return resume_target(static_cast<choice&>(*this), woken, frame().get_executor());
}

sleep_clause::sleep_clause(select_core& all, time_point until) noexcept
    : timer(fired), work(run_woken), all_(&all), service_(&timers_of(all.frame())) {
    set_deadline(until);
}

bool sleep_clause::poll() const noexcept {
    return timer::deadline() == time_point::min() || timer::deadline() <= service_->now();
}

bool sleep_clause::start(select_core& all) noexcept {
    is_armed_ = service_->arm(*this);
    if (!is_armed_) {
        all.timers_are_closed();
    }
    return true;
}

void sleep_clause::unlink() noexcept {
    if (std::exchange(is_armed_, false)) {
        static_cast<void>(service_->disarm(*this));  // when it returns, fired() is not running
    }
}

void sleep_clause::fired(timer& self) noexcept {
    sleep_clause& mine = static_cast<sleep_clause&>(self);
    if (mine.all_->try_win(mine.id())) {
        post_or_fall_back(mine.all_->frame().get_executor(), mine, "a select");
    }
}

void sleep_clause::run_woken(work& self) noexcept { static_cast<sleep_clause&>(self).all_->resume(); }

}  // namespace roost::inline ROOST_ABI::detail
