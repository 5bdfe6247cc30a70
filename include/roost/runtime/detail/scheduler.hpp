#pragma once

#include <roost/exec/detail/posters.hpp>
#include <roost/exec/executor.hpp>
#include <roost/runtime/detail/driver_seat.hpp>
#include <roost/runtime/detail/fork_check.hpp>
#include <roost/runtime/detail/idle_set.hpp>
#include <roost/runtime/detail/injector.hpp>
#include <roost/runtime/detail/pace.hpp>
#include <roost/runtime/detail/patience.hpp>
#include <roost/runtime/detail/pulse.hpp>
#include <roost/runtime/detail/work_deque.hpp>

#include <memory>
#include <string>

// The work-stealing executor behind roost::runtime. How it schedules:
//
//   a worker runs        its newest own work, so that what was just woken finds its data in the cache;
//                        every 31st time, and about twice in a millisecond, work from outside or its oldest own work, in
//                        turn, so that nothing starves (runtime/detail/pace.hpp)
//   post from a worker   goes to the bottom of that worker's deque; post_last to its inbox, which is checked when the deque
//                        is empty and nothing waits outside
//   post from elsewhere  goes to the injector, which all workers share
//   a worker without     searches the injector and the other workers, at most half of the workers at a time and briefly, then
//   work                 sleeps; searches are shorter after long sleeps, because waiting for the next work does not pay then
//
// id  operation                 order    pairs  carries                                                   fails in
// S1  finish: finished_ store   relaxed  S2     nothing: the lock of idle_ orders it before the last look  (floor)
// S2  worker: finished_ load    relaxed  S1     nothing: as S1                                            (floor)
// S3  yielded_hint              relaxed  -      an estimate: the inbox itself carries its items           (floor)
//
// One worker that sleeps does so in the driver, and handles its events when it wakes. While all are busy, each looks at the
// driver when it looks at older work. What an event wakes goes to the injector: the first event is served first, by any worker.
//
// The newest item of a busy worker is left to it: a body that wakes another one and then suspends hands off on its own
// thread. If the body does not suspend, a thief that has waited long enough takes the item, or one that the watcher wakes.

namespace roost::inline ROOST_ABI::detail {

class scheduler;
class keeper;

struct scheduler_options {
    unsigned workers = 1;
    std::string name = "runtime";
    timer_service* timers = nullptr;
    blocking_service* blocking = nullptr;
    keeper* watcher = nullptr;
    ext::driver* driver = nullptr;  // null: one is made when it is needed
    unsigned search_rounds = 20;  // most rounds of a search before a sleep: about 40 microseconds
    unsigned patient_rounds = 12;  // after these a thief may take the item that a busy worker keeps for itself
};

struct alignas(64) worker {
    work_deque<> deque;
    alignas(64) work_stack inbox;
    idle_set::sleeper sleeper;
    scheduler* owner = nullptr;
    unsigned index = 0;
    detail::pace pace;  // until older work runs
    bool drives = false;  // is inside the driver: its handlers run no bodies
    unsigned turn = 0;  // which kind of older work is next
    unsigned rounds = 0;  // rounds of bodies after which no waiting older work was known
    detail::patience patience;
    std::uint32_t yielded = 0;  // items that the owner pushed to its inbox since it last took it
    atomic<std::uint32_t> yielded_hint{0};
    std::unique_ptr<std::uint64_t[]> beats;  // the pulses of the others when the search began
    alignas(64) detail::pulse pulse;
    thread handle;

    [[nodiscard]] std::int64_t spare() const noexcept {
        return deque.size_approx() + static_cast<std::int64_t>(yielded_hint.load(mo::relaxed));  // S3
    }
};

class scheduler final : public executor {
public:
    explicit scheduler(scheduler_options options);  // throws std::system_error, std::bad_alloc; then no thread is left
    // Calls close() and join(), and waits for threads that are still inside post(). Must not be called by a worker.
    ~scheduler();

    bool post(work& w) noexcept override;
    bool post_last(work& w) noexcept override;
    bool take_next(const work& w) noexcept override;
    timer_service* timers() noexcept override { return options_.timers; }
    blocking_service* blocking() noexcept override { return options_.blocking; }
    ext::reactor* reactor() noexcept override { return seat_.reactor(); }
    ext::reactor* make_reactor(std::error_code& why) noexcept override;
    [[nodiscard]] bool is_here() const noexcept override;
    [[nodiscard]] bool owns_this_thread() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override { return options_.name; }

    [[nodiscard]] worker& worker_at(unsigned index) noexcept { return workers_[index]; }

    // Refuses work from outside. What is queued runs, as does what it posts from the workers; then the workers end.
    void close() noexcept;
    void join();
    // Called by the watcher. Wakes a worker if another one has work that it cannot run.
    void rescue(std::uint64_t* beats) noexcept;

    static worker*& this_worker() noexcept;

private:
    [[gnu::noinline]] bool post_from_outside(work& w) noexcept;
    void run_worker(worker& me) noexcept;
    work* next(worker& me) noexcept;
    work* older(worker& me) noexcept;
    work* take_inbox(worker& me, worker& from) noexcept;
    work* fetch_outside(worker& me) noexcept;
    work* find(worker& me) noexcept;
    work* search(worker& me) noexcept;
    work* end_search(worker& me, work* found) noexcept;
    work* steal_from(worker& me, worker& victim, bool patient) noexcept;
    bool park(worker& me, bool was_searching) noexcept;
    bool sleep(worker& me) noexcept;
    void drive(worker& me, ext::driver& in) noexcept;
    void handle_events(worker& me, ext::driver& in) noexcept;
    void poll_driver(worker& me) noexcept;
    [[nodiscard]] bool is_anything_kept(const worker& me) const noexcept;
    [[nodiscard]] bool is_anything_to_get() const noexcept;
    [[nodiscard]] bool is_anything_queued() const noexcept;
    void push(worker& me, work& w) noexcept;
    void start_threads();
    void finish() noexcept;

    scheduler_options options_;
    driver_seat seat_;
    idle_set idle_;
    injector outside_;
    std::unique_ptr<worker[]> workers_;
    atomic<bool> finished_{false};
    posters posters_;
    fork_check fork_;
};

}  // namespace roost::inline ROOST_ABI::detail
