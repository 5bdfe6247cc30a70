#include <roost/runtime/runtime.hpp>

#include <roost/base/assert.hpp>
#include <roost/base/detail/metric_source.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/runtime/cpu_limits.hpp>
#include <roost/runtime/detail/keeper.hpp>
#include <roost/runtime/detail/scheduler.hpp>
#include <roost/runtime/loop.hpp>
#include <roost/sync/event.hpp>

#include <optional>
#include <string>
#include <system_error>

// id  operation   order    pairs  carries                                           fails in
// R1  exchange    seq_cst  R1     that another caller is ending it                  (no model: the event carries the rest)

namespace roost::inline ROOST_ABI {

using namespace observe;

using namespace ext;

using namespace seam;

// Constructed in this order, ended in the opposite one. The keeper's thread starts last: it watches workers that exist
// already.
struct runtime::parts {
    // What a scrape reads. In the list from the end of the runtime's constructor until its destructor.
    class meter final : public detail::metric_source {
    public:
        explicit meter(parts& of) noexcept : of_(of) {}
        ~meter() { delist(); }

    private:
        void read(detail::metric_sink& to) override;
        parts& of_;
    };

    std::string name;
    site made_at;
    unsigned workers;
    blocking_lane lane;
    detail::keeper keeper;
    std::optional<detail::scheduler> scheduler;
    std::optional<roost::loop> loop;
    thread loop_thread;
    const duration patience;
    ext::driver* const driver;
    atomic<bool> ending{false};  // a caller of shut_down() has begun
    event ended;
    detail::fork_check fork;
    meter metrics{*this};  // last: it reads the others

    parts(const runtime_options& o, unsigned count, site where)
        : name(o.name_),
          made_at(where),
          workers(count),
          lane(o.blocking_, name + "/block"),
          keeper({name, o.soft_budget_, o.on_overrun_, o.overrun_context_}),
          patience(o.blocking_patience_),
          driver(o.driver_) {}

    void start_pool() {
        detail::scheduler_options o;
        o.workers = workers;
        o.name = name;
        o.timers = &keeper.timers();
        o.blocking = &lane;
        o.watcher = &keeper;
        o.driver = driver;
        scheduler.emplace(std::move(o));
        for (unsigned i = 0; i < workers; ++i) {
            keeper.watch(scheduler->worker_at(i).pulse, &*scheduler);
        }
    }
    void start_loop() {
        loop.emplace(name, driver);
        loop->set_blocking(&lane);
        detail::runtime_access::set_watcher(*loop, &keeper);
        keeper.watch(detail::runtime_access::pulse_of(*loop));
        loop_thread = thread([this] {
            detail::name_this_thread(name, 0);
            loop->run();
        });
    }
    void end_loop() {
        loop->close();
        if (loop_thread.joinable()) {
            loop_thread.join();
        }
    }
    // Timers are closed before the workers: a later one would wake a job that can no longer run. Each timer is counted
    // here, or has posted what it wakes while posts were still accepted.
    std::size_t end_workers() {
        if (loop) {
            const std::size_t left = loop->timers_.close();
            end_loop();
            return left;
        }
        const std::size_t left = keeper.timers().close();
        scheduler->close();
        scheduler->join();
        return left;
    }
    [[nodiscard]] const char* own_thread() noexcept {
        if (loop ? loop->owns_this_thread() : scheduler->owns_this_thread()) {
            return "a worker cannot wait for its own runtime to end; a job ends the program by returning, not by "
                   "shut_down()";
        }
        if (lane.is_here()) {
            return "a thread of the blocking lane cannot wait for its own runtime to end; destroy the runtime on another "
                   "thread";
        }
        return keeper.is_here() ? "a timer cannot wait for its own runtime to end; destroy the runtime on another thread"
                                : nullptr;
    }
};

runtime::runtime(const runtime_options& options, site made_at) {
    const unsigned count = options.workers_ == 0 ? usable_cpus() : options.workers_;
    if (count > detail::idle_set::most_workers) {
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                "runtime '" + std::string(options.name_) + "': too many workers: " + std::to_string(count) +
                                    " (at most " + std::to_string(detail::idle_set::most_workers) + ")");
    }
    parts_ = std::make_unique<parts>(options, count, made_at);
    count == 1 ? parts_->start_loop() : parts_->start_pool();
    try {
        parts_->keeper.start();
    } catch (...) {
        if (parts_->loop) {
            parts_->end_loop();
        }
        throw;  // the scheduler ends its own threads
    }
    parts_->metrics.enlist();
}

void runtime::parts::meter::read(detail::metric_sink& to) {
    const detail::metric_label label{"runtime", of_.name};
    std::size_t busy = 0;
    for (unsigned i = 0; i < of_.workers; ++i) {
        const detail::pulse& beat =
            of_.loop ? detail::runtime_access::pulse_of(*of_.loop) : of_.scheduler->worker_at(i).pulse;
        busy += detail::pulse::is_in_body(beat.read()) ? 1 : 0;
    }
    const std::size_t timers = of_.keeper.timers().size() + (of_.loop ? of_.loop->timers_.size() : 0);
    constexpr const char* help = "Threads of a runtime that run jobs.";
    to.gauge("roost_workers", help, double(busy), {label, {"state", "busy"}});
    to.gauge("roost_workers", help, double(of_.workers) - double(busy), {label, {"state", "idle"}});
    to.gauge("roost_timers", "Timers that are armed.", double(timers), {label});
    to.gauge("roost_blocking_busy", "Threads that run blocking functions.", double(of_.lane.busy()), {label});
    to.gauge("roost_blocking_queued", "Blocking functions that wait for a thread.", double(of_.lane.queued()), {label});
}

runtime::~runtime() {
    if (parts_->fork.is_forked_child()) {
        static_cast<void>(parts_.release());  // its threads do not exist in this process
        return;
    }
    const runtime_ending how = shut_down();
    for (const lane_entry& left : how.abandoned()) {
        try {
            detail::write_stderr("roost: runtime '" + parts_->name + "' (made at " + parts_->made_at.to_string() +
                                 ") ended and abandoned " + left.to_string() + "\n");
        } catch (const std::exception&) {
            detail::write_stderr("roost: a runtime ended and abandoned some of its blocking functions\n");
        }
    }
}

executor& runtime::get_executor() noexcept {
    return parts_->loop ? static_cast<executor&>(*parts_->loop) : static_cast<executor&>(*parts_->scheduler);
}
timer_service& runtime::timers() noexcept { return *get_executor().timers(); }
blocking_lane& runtime::blocking() noexcept { return parts_->lane; }
unsigned runtime::workers() const noexcept { return parts_->workers; }
std::string_view runtime::name() const noexcept { return parts_->name; }

runtime_ending runtime::shut_down() {
    parts_->fork.require_parent("runtime", parts_->name);
    if (const char* rule = parts_->own_thread()) {
        detail::panic("runtime", parts_->name, parts_->made_at, rule);
    }
    if (parts_->ending.exchange(true, mo::seq_cst)) {  // R1
        parts_->ended.wait_blocking();
        return {};
    }
    std::vector<lane_entry> abandoned = parts_->lane.close(parts_->patience);
    const std::size_t timers = parts_->end_workers();
    parts_->keeper.stop();
    parts_->ended.set();
    return {timers, std::move(abandoned)};
}

unsigned runtime::this_worker() noexcept {
    const detail::worker* me = detail::scheduler::this_worker();
    if (me != nullptr) {
        return me->index;
    }
    return loop::current() == nullptr ? no_worker : 0;
}

}  // namespace roost::inline ROOST_ABI
