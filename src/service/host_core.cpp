// Order O5: service/detail/host_core.hpp.

#include <roost/service/detail/host_core.hpp>

#include <roost/base/failure_sink.hpp>
#include <roost/service/budgets.hpp>

#include <algorithm>
#include <mutex>

namespace roost::inline ROOST_ABI::service::detail {

using namespace observe;
using namespace ext;

using namespace seam;

host_core::host_core(const service::options& o, const schedule& times, executor_ref where, std::source_location from)
    : options_(o),
      log_(o.sink(), o.sink_context(), o.log_buffer()),
      name_(o.name()),
      times_(times),
      where_(where),
      root_(name_, from),
      work_(root_.child("work", from)),
      resources_(root_.child("resources", from)),
      components_(work_, resources_, where, times_, this) {
    components_.add_main("main", from);
    probe_ = &liveness_probe::make(where);  // last: nothing would release it if a later member threw
    enlist();
}

host_core::~host_core() {
    delist();
    probe_->leave();
}

void host_core::read(roost::detail::metric_sink& to) {
    const roost::detail::metric_label label{"service", name_};
    const service::phase now = phase();
    for (unsigned i = 0; i < phase_count; ++i) {
        const auto p = static_cast<service::phase>(i);
        to.gauge("roost_phase", "1 for the phase that the service is in.", p == now ? 1 : 0,
                 {label, {"phase", to_string(p)}});
    }
    to.gauge("roost_ready", "1 while the service reports that it is ready.", is_ready() ? 1 : 0, {label});
    const char* const guards = "Units of work below a shutdown node.";
    to.gauge("roost_guards", guards, double(work_.guard_count()), {{"node", work_.name()}});
    to.gauge("roost_guards", guards, double(resources_.guard_count()), {{"node", resources_.name()}});
    const ledger_counts books = ledger_.read();
    const char* const entries = "Pieces of accepted work by how they ended.";
    to.counter("roost_ledger_total", entries, books.completed(), {label, {"outcome", "completed"}});
    to.counter("roost_ledger_total", entries, books.failed(), {label, {"outcome", "failed"}});
    to.counter("roost_ledger_total", entries, books.cancelled(), {label, {"outcome", "cancelled"}});
    to.counter("roost_ledger_total", entries, books.abandoned(), {label, {"outcome", "abandoned"}});
    to.gauge("roost_ledger_open", "Pieces of accepted work that have not ended.", double(books.open()), {label});
}

void host_core::log_ledger(const ledger_counts& books) const noexcept {
    char text[ledger_counts::longest_text];
    log_.write(log_line(severity::info, books.write_to(text), wall_now(), log_line::kind::ledger));
}

void host_core::log_lines(severity how, std::string_view prefix, std::string_view text) const noexcept {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        try {
            log(how, std::string(prefix).append(line));
        } catch (...) {
            log(how, line);
        }
    }
}

void host_core::wish_for(wish w, std::string_view why) noexcept {
    try {
        const std::lock_guard hold(lock_);
        why_ = why;
    } catch (...) {}
    wish_for(w);
}

std::string host_core::take_why() {
    const std::lock_guard hold(lock_);
    return std::move(why_);
}

// Work that has begun is finished. A failure during shutdown changes the exit code alone.
void host_core::component_failed(const component& which, const std::exception_ptr& error) noexcept {
    set_failure(exit_code::component_failed);
    if (phase() != service::phase::running) {
        return;
    }
    try {
        wish_for(wish::shut_down, "component '" + std::string(which.name()) + "' failed (" + describe(error) + ")");
    } catch (...) {
        wish_for(wish::shut_down, "a component failed");
    }
}

bool host_core::is_live() const noexcept {
    return live_.load(mo::relaxed) && probe_->is_live(now(), options_.live_within());  // O5
}

void host_core::set_ready(bool ready) noexcept {
    ready_.store(ready, mo::relaxed);  // O5
    wish_for(wish::ready_changed);
}

const roost::shutdown& host_core::waited_for() const noexcept {
    const service::phase p = phase();
    return p == service::phase::release || p == service::phase::exit ? resources_ : work_;
}

shutdown_report host_core::report() const { return waited_for().report(); }

std::string host_core::status() const {
    const service::phase p = phase();
    if (p == service::phase::running) {
        return std::string(to_string(p)) + (is_ready() ? ", ready" : ", not ready");
    }
    return status(p, report());
}

std::string host_core::status(service::phase p, const shutdown_report& r) const {
    std::string text(to_string(p));
    text += ", " + std::to_string(r.total()) + " outstanding";
    if (!r.is_empty()) {
        const report_entry& oldest = r.entries().front();
        text += ", oldest " + oldest.kind() + " '" + oldest.name() + "'";
        if (oldest.oldest()) {
            text += " " + format_duration(*oldest.oldest());
        }
    }
    const duration left = hard_deadline() - now();
    return text + ", " + format_duration(std::max(left, duration(0))) + " left";
}

void host_core::keep(std::shared_ptr<void> object) {
    const std::lock_guard hold(lock_);
    if (keeps_) {
        kept_.push_back(std::move(object));
    }
}

// Each is destroyed outside the lock, since it may log and call the host.
void host_core::release_kept() noexcept {
    for (;;) {
        std::shared_ptr<void> last;
        const std::lock_guard hold(lock_);
        keeps_ = false;
        if (kept_.empty()) {
            return;
        }
        last.swap(kept_.back());
        kept_.pop_back();
    }
}

// --- reloading -------------------------------------------------------------------------------------------------------------

void host_core::set_reload(std::function<task<>()> hook) {
    const std::lock_guard hold(lock_);
    reload_.swap(hook);
}

task<> host_core::run_reload() {
    for (bool again = true; again;) {
        std::function<task<>()> hook;
        {
            const std::lock_guard hold(lock_);
            reload_again_ = false;
            hook = reload_;
        }
        bool failed = false;
        try {
            task<> t = hook();
            co_await std::move(t);
        } catch (...) {
            failed = true;
            report_failure("the reload hook of service", name_, site(), std::current_exception());
        }
        log(failed ? severity::error : severity::info, failed ? "roost: reload failed" : "roost: reload done");
        const std::lock_guard hold(lock_);
        again = reload_again_;
        reloading_ = again;
    }
    wish_for(wish::ready_changed);  // READY=1 is sent only when no reload runs
}

bool host_core::is_reloading() const {
    const std::lock_guard hold(lock_);
    return reloading_;
}

bool host_core::reload() {
    {
        const std::lock_guard hold(lock_);
        if (!reload_) {
            return false;
        }
        if (reloading_) {
            reload_again_ = true;
            return true;
        }
        reloading_ = true;
    }
    try {
        components_.main().launch("reload", run_reload());
    } catch (...) {  // no memory: the next SIGHUP tries again
        const std::lock_guard hold(lock_);
        reloading_ = false;
        throw;
    }
    return true;
}

}  // namespace roost::inline ROOST_ABI::service::detail
