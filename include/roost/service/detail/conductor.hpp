#pragma once

// The thread that conducts a service's shutdown: signals, phases, reports, the service manager. It runs no work of the
// service, so it works when every worker is stuck.
//
// id  operation             order    pairs  carries                                  fails in
// C1  looked: store/load    seq_cst  C1     what the first look did                  (no model: it sleeps in the kernel)
// C2  over: store/load      seq_cst  C2     that the phases have come to their end   (no model: it sleeps in the kernel)
// C3  ending: store/load    seq_cst  C3     nothing but itself                       (no model: it sleeps in the kernel)

#include <roost/base/atomic.hpp>
#include <roost/service/detail/host_core.hpp>
#include <roost/service/detail/notify_socket.hpp>
#include <roost/service/detail/phase_state.hpp>
#include <roost/service/detail/signal_inbox.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

class conductor {
public:
    // Rings `news` when has_looked() or is_over() becomes true, and `deadline_set` when there is a hard deadline.
    conductor(host_core& core, const wake_fd& news, const wake_fd& deadline_set);
    ~conductor();  // calls end()

    void start();  // throws std::system_error without a thread
    void end() noexcept;

    // Returns true when everything that arrived before the start has been handled.
    [[nodiscard]] bool has_looked() const noexcept { return looked_.load(mo::seq_cst); }  // C1
    // Returns true when the service's threads can be joined.
    [[nodiscard]] bool is_over() const noexcept { return over_set_.load(mo::seq_cst); }  // C2
    // Called after end().
    [[nodiscard]] phase_state state() const noexcept { return state_; }
    [[nodiscard]] int signal() const noexcept { return signal_; }

private:
    void run() noexcept;
    void look(time_point now);
    void look_at_signals(time_point now);
    void look_again_soon(const std::exception& e) noexcept;
    // Functions that consume a request do not throw: the request would be lost.
    void one_signal(handled h, int sender, time_point now) noexcept;
    template <class Say>
    bool reload(time_point now, const Say& say) noexcept;
    void look_at_wishes(time_point now) noexcept;
    void look_at_phase(time_point now);
    void apply(phase_event e, time_point now) noexcept;
    void enter(phase_state before, phase_effect effect, time_point now) noexcept;
    // Carries out what is due. What fails for lack of memory stays due.
    void carry_out(time_point now) noexcept;
    void arm(time_point now) noexcept;
    void begin_shutdown(time_point now) noexcept;
    void set_cause(std::string_view text) noexcept;
    [[nodiscard]] reason why() const noexcept;
    [[nodiscard]] bool is_done(time_point now);
    [[nodiscard]] bool is_stage_over(roost::shutdown& above, time_point now);
    void look_at_reports(time_point now);
    void say_holders(time_point now);
    void say_lane(severity how);
    void look_at_manager(time_point now);
    void send_ready() noexcept;
    void dump(severity how);
    [[noreturn]] void die();
    void wake_at(time_point t) noexcept { next_ = t < next_ ? t : next_; }

    host_core& core_;
    const wake_fd& news_;
    const wake_fd& deadline_set_;
    notify_socket manager_;
    std::optional<duration> watchdog_;
    phase_state state_;
    phase_effect due_ = phase_effect::none;  // requested by state_, and not done yet
    signal_counts seen_;
    int signal_ = 0;
    std::string cause_;
    time_point next_ = no_deadline;
    time_point phase_deadline_ = no_deadline;
    time_point next_report_ = no_deadline;
    time_point next_probe_ = time_point::min();
    time_point next_watchdog_ = time_point::min();
    std::size_t least_outstanding_ = static_cast<std::size_t>(-1);
    std::uint64_t last_settled_ = 0;
    bool ready_sent_ = false;
    bool was_live_ = true;
    atomic<bool> looked_{false};
    atomic<bool> over_set_{false};
    atomic<bool> ending_{false};
    thread thread_;
};

}  // namespace roost::inline ROOST_ABI::service::detail
