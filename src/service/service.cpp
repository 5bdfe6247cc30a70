#include <roost/service/service.hpp>

#include <roost/base/detail/subject_text.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/exec/detail/recent_time.hpp>
#include <roost/service/detail/conductor.hpp>
#include <roost/service/detail/hearer.hpp>
#include <roost/service/detail/last_resort.hpp>

#include <unistd.h>

#include <memory>
#include <optional>
#include <system_error>

// id  operation              order    pairs  carries                                       fails in
// R1  taken: exchange        seq_cst  R1     what the service before did                   (no model: once per run)

namespace roost::inline ROOST_ABI::service::detail {

using namespace observe;
using namespace seam;

namespace {

hearer<host_core>& current() noexcept {
    static hearer<host_core> core;
    return core;
}

void log_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
    current().tell([&](const host_core& core) {
        try {
            std::string text("roost: ");
            roost::detail::append_subject(text, what, name, made_at);
            core.log(severity::error, text + " failed: " + describe(error));
        } catch (...) {
            core.log(severity::error, "roost: unhandled failure; no memory to describe it");
        }
    });
}

void log_overrun(const overrun& o, void* /*context*/) noexcept {
    current().tell([&](const host_core& core) {
        try {
            core.log(severity::warning, o.to_string());
        } catch (...) {}
    });
}

void end_after_panic(const char* sentence) {
    current().tell([&](host_core& core) {
        core.log(severity::error, sentence);
        core.log_ledger(core.ledger().read().forced());
        if (!core.flush_log(deadline_after(now(), last_words_budget))) {
            roost::detail::write_stderr(sentence);  // the sink is stuck, or broke the invariant itself
            roost::detail::write_stderr("\n");
        }
        ::_exit(exit_code::broken_invariant);
    });
}

// Receives failures and broken invariants while a service runs.
class hearing {
public:
    explicit hearing(host_core& core) noexcept {
        current().come(core);
        failures_ = set_failure_sink(log_failure);
        panics_ = set_panic_handler(end_after_panic);
    }
    ~hearing() {
        set_panic_handler(panics_);
        set_failure_sink(failures_);
        current().leave();
    }
    hearing(const hearing&) = delete;
    hearing& operator=(const hearing&) = delete;

private:
    failure_sink failures_;
    panic_handler panics_;
};

// Rings the conductor and the last resort on signals while a service runs.
class listening {
public:
    listening(const wake_fd& conductor, const wake_fd& watch) noexcept { signal_inbox::listen(conductor.fd(), watch.fd()); }
    ~listening() { signal_inbox::listen(-1, -1); }
    listening(const listening&) = delete;
    listening& operator=(const listening&) = delete;
};

class one_at_a_time {
public:
    one_at_a_time() noexcept : mine_(!taken().exchange(true, mo::seq_cst)) {}  // R1
    ~one_at_a_time() {
        if (mine_) {
            taken().exchange(false, mo::seq_cst);  // R1
        }
    }
    one_at_a_time(const one_at_a_time&) = delete;
    one_at_a_time& operator=(const one_at_a_time&) = delete;
    [[nodiscard]] bool is_mine() const noexcept { return mine_; }

private:
    static atomic<bool>& taken() noexcept {
        static atomic<bool> flag{false};
        return flag;
    }
    bool mine_;
};

// Releases what the host keeps, also when the service could not be started.
class keeping {
public:
    explicit keeping(host_core& core) noexcept : core_(core) {}
    ~keeping() { core_.release_kept(); }
    keeping(const keeping&) = delete;
    keeping& operator=(const keeping&) = delete;

private:
    host_core& core_;
};

// Part of the root task's frame: reports its end, however it ends.
class main_end {
public:
    explicit main_end(host_core& core) noexcept : core_(&core) {}
    main_end(main_end&& other) noexcept : core_(std::exchange(other.core_, nullptr)), code_(other.code_) {}
    ~main_end() {
        if (core_ != nullptr) {
            core_->main_ended(code_);
        }
    }
    void set(int code) noexcept { code_ = code; }

private:
    host_core* core_;
    int code_ = exit_code::clean;
};

task<> run_main(host_core& core, host& h, make_main& root, main_end end) {
    try {
        task<int> body = root(h);
        const int code = co_await std::move(body);
        end.set(code);
    } catch (...) {
        core.set_failure(exit_code::main_failed);
        core.say(
            severity::error,
            [&] {
                return "roost: the root task (" + core.root().tree_node().site().to_string() +
                       ") failed: " + describe(std::current_exception());
            },
            "roost: the root task failed");
    }
}

int refuse(const options& o, std::string_view sentence) noexcept {
    if (o.sink() == nullptr) {
        return exit_code::bad_options;
    }
    try {
        const std::string text = "roost: " + std::string(o.name()) + " was not started: " + std::string(sentence);
        o.sink()(log_line(severity::error, text), o.sink_context());
    } catch (...) {
        o.sink()(log_line(severity::error, "roost: a service was not started: no memory"), o.sink_context());
    }
    return exit_code::bad_options;
}

// The service has run, so a lack of memory for log lines does not change its exit code.
int last_words(host_core& core, const conductor& c) noexcept {
    const ledger_counts books = core.ledger().read();
    const bool lost = books.open() != 0;
    if (lost) {
        core.say(
            severity::error,
            [&] { return "roost: " + std::to_string(books.open()) + " ledger entries were accepted but never settled"; },
            "roost: ledger entries were accepted but never settled");
    }
    const int code = exit_code_of(c.state(), c.signal(), lost, core.failure(), core.main_code());
    core.say(
        severity::info, [&] { return "roost: '" + core.name() + "' ends with " + std::to_string(code); },
        "roost: the service ends");
    core.log_ledger(books);
    core.finish_log();
    return code;
}

// Everything between the start of the threads and their end.
int host_service(make_main& root, bool ready_at_start, const options& o, const schedule& times, std::source_location from) {
    const no_broken_pipes quiet;
    const wake_fd news;
    std::optional<runtime> own;
    if (!o.on()) {
        runtime_options threads = o.runtime();
        own.emplace(threads.has_on_overrun() ? threads : threads.on_overrun(log_overrun));
    }
    host_core core(o, times, o.on() ? o.on() : executor_ref(*own), from);
    const last_resort watch(core);
    std::optional<hearing> ears(std::in_place, core);
    host h(core);
    const keeping kept(core);
    const listening signals(core.wake(), watch.bell());
    conductor c(core, news, watch.bell());
    // Recorded signals are handled before the root task begins, and nothing is over before it has begun.
    roost::guard beginning = core.components().main().shutdown().guard();
    roost::detail::recent_time::rest();  // jobs that start before the keeper sets the time have an age as well
    o.attached()(h);
    c.start();
    while (!c.has_looked()) {
        news.sleep_until(no_deadline);
    }
    core.components().main().launch("main", run_main(core, h, root, main_end(core)), from);
    beginning.reset();
    if (ready_at_start) {
        core.set_ready(true);
    }
    while (!c.is_over()) {
        news.sleep_until(no_deadline);
    }
    if (own) {
        const runtime_ending how = own->shut_down();
        for (const lane_entry& left : how.abandoned()) {
            core.say(
                severity::error, [&] { return "roost: abandoned " + left.to_string(); },
                "roost: abandoned some blocking functions");
        }
    }
    c.end();
    core.release_kept();
    ears.reset();  // the ledger is the last line; later failures go to the former sink
    return last_words(core, c);
}

// No thread handles signals any more, so they must have their usual effect: logging the sentence may take for ever.
int refuse_without_signals(const options& o, std::string_view sentence) noexcept {
    if (o.signals()) {
        forget_signals();
    }
    return refuse(o, sentence);
}

// Throws if there are no threads, no descriptors or no memory to start with.
int run_alone(make_main& root, bool ready_at_start, const options& o, std::source_location from) {
    service::budgets wanted = o.budgets();
    if (!o.environment().empty()) {
        if (const std::string problem = read_environment(wanted, o.environment()); !problem.empty()) {
            return refuse_without_signals(o, problem);
        }
    }
    const schedule_result times = schedule_result::make(wanted);
    if (!times.is_good()) {
        return refuse_without_signals(o, times.problem());
    }
    if (o.signals()) {
        remember_signals();
    }
    const int code = host_service(root, ready_at_start, o, times.value(), from);
    if (o.signals()) {
        forget_signals();
    }
    return code;
}

}  // namespace

int run_service(make_main root, bool ready_at_start, const options& o, std::source_location from) {
    const one_at_a_time only;
    if (!only.is_mine()) {
        return refuse(o, "another service is running in this process");
    }
    try {
        return run_alone(root, ready_at_start, o, from);
    } catch (const std::exception& e) {
        return refuse_without_signals(o, e.what());  // no threads, no descriptors, no memory
    }
}

}  // namespace roost::inline ROOST_ABI::service::detail
