#pragma once

// The state that host and conductor share.
//
// id  operation                 order    pairs  carries                                                          fails in
// O1  phase: store              release  O2     what was done before the phase began                             host_core_model: phase_begins
// O2  phase: load               acquire  O1     as O1                                                            host_core_model: phase_begins
// O3  wishes: fetch_or          release  O4     what the requesting thread did before                            host_core_model: main_ends
// O4  wishes: exchange          acquire  O3     as O3                                                            host_core_model: main_ends
// O5  flags, times              relaxed  -      each true on its own                                             (floor)
// O6  main's code: store        relaxed  -      O3 carries it                                                    (floor)

#include <roost/base/atomic.hpp>
#include <roost/base/detail/metric_source.hpp>
#include <roost/service/detail/component_list.hpp>
#include <roost/service/detail/liveness_probe.hpp>
#include <roost/service/detail/log_writer.hpp>
#include <roost/service/detail/wake_fd.hpp>
#include <roost/service/host.hpp>
#include <roost/service/service_options.hpp>

#include <memory>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI::service::detail {

using namespace seam;

enum class wish : std::uint32_t { shut_down = 1, cancel = 2, main_ended = 4, ready_changed = 8 };
[[nodiscard]] constexpr bool contains(std::uint32_t wishes, wish w) noexcept {
    return (wishes & static_cast<std::uint32_t>(w)) != 0;
}

class host_core : private component_failures, private roost::detail::metric_source {
public:
    host_core(const service::options& o, const schedule& times, executor_ref where, std::source_location from);
    ~host_core();
    host_core(const host_core&) = delete;
    host_core& operator=(const host_core&) = delete;

    // --- for every thread ----------------------------------------------------------------------------------------------
    // Never waits for the sink; see log_writer.hpp.
    void log(severity how, std::string_view text) const noexcept { log_.write(log_line(how, text)); }
    // Logs words(). Without memory for that text, logs `otherwise`.
    template <class Words>
    void say(severity how, const Words& words, std::string_view otherwise) const noexcept {
        try {
            log(how, words());
        } catch (...) {
            log(how, otherwise);
        }
    }
    // Blocks until the sink has returned from every line so far, at most until the deadline. Returns true if it has.
    // Returns false at once inside the sink.
    bool flush_log(time_point deadline) const noexcept { return log_.flush(deadline); }
    // Called after the last line. Blocks until it is written; only the last resort ends a wait for a sink that never
    // returns.
    void finish_log() noexcept { log_.finish(); }
    // Does not allocate.
    void log_ledger(const ledger_counts& books) const noexcept;
    // Logs each line of text by itself, with the same prefix.
    void log_lines(severity how, std::string_view prefix, std::string_view text) const noexcept;
    void wish_for(wish w) noexcept {
        wishes_.fetch_or(static_cast<std::uint32_t>(w), mo::release);  // O3
        wake_.ring();
    }
    void wish_for(wish w, std::string_view why) noexcept;
    [[nodiscard]] service::phase phase() const noexcept { return phase_.load(mo::acquire); }  // O2
    [[nodiscard]] bool is_ready() const noexcept {
        return ready_.load(mo::relaxed) && failure() == exit_code::clean && phase() == service::phase::running;  // O5
    }
    [[nodiscard]] bool is_live() const noexcept;
    void set_ready(bool ready) noexcept;
    void set_live(bool live) noexcept { live_.store(live, mo::relaxed); }  // O5
    [[nodiscard]] time_point hard_deadline() const noexcept {
        return time_point(duration(hard_deadline_.load(mo::relaxed)));  // O5
    }
    [[nodiscard]] shutdown_report report() const;
    [[nodiscard]] std::string status() const;
    [[nodiscard]] std::string status(service::phase p, const shutdown_report& r) const;  // of one that ends
    void set_reload(std::function<task<>()> hook);
    void keep(std::shared_ptr<void> object);

    // --- for the conductor and run() -------------------------------------------------------------------------------------
    [[nodiscard]] std::uint32_t take_wishes() noexcept { return wishes_.exchange(0, mo::acquire); }  // O4
    [[nodiscard]] std::string take_why();
    void set_phase(service::phase p) noexcept { phase_.store(p, mo::release); }  // O1
    void set_hard_deadline(time_point t) noexcept {
        hard_deadline_.store(t.time_since_epoch().count(), mo::relaxed);  // O5
    }
    // Returns true if a SIGHUP counts as the signal that began shutdown.
    [[nodiscard]] bool ends_by_hangup() const noexcept { return ends_by_hangup_.load(mo::relaxed); }  // O5
    void set_ends_by_hangup() noexcept { ends_by_hangup_.store(true, mo::relaxed); }  // O5
    [[nodiscard]] bool said_ready() const noexcept { return ready_.load(mo::relaxed); }  // O5
    void main_ended(int code) noexcept {
        main_code_.store(code, mo::relaxed);  // O6
        wish_for(wish::main_ended);
    }
    [[nodiscard]] int main_code() const noexcept { return main_code_.load(mo::relaxed); }  // O6
    // Returns clean, or the first failure: main_failed or component_failed.
    [[nodiscard]] int failure() const noexcept { return failure_.load(mo::relaxed); }  // O5
    void set_failure(int code) noexcept {
        int none = exit_code::clean;
        failure_.compare_exchange_strong(none, code, mo::relaxed, mo::relaxed);  // O5
    }
    // Called when the threads of the service have ended.
    void release_kept() noexcept;
    // Returns false if there is no hook.
    bool reload();
    [[nodiscard]] bool is_reloading() const;

    [[nodiscard]] const service::options& options() const noexcept { return options_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const schedule& times() const noexcept { return times_; }
    [[nodiscard]] executor_ref executor() const noexcept { return where_; }
    [[nodiscard]] service::ledger& ledger() noexcept { return ledger_; }
    [[nodiscard]] component_list& components() noexcept { return components_; }
    [[nodiscard]] roost::shutdown& root() noexcept { return root_; }
    [[nodiscard]] roost::shutdown& work() noexcept { return work_; }
    [[nodiscard]] roost::shutdown& resources() noexcept { return resources_; }
    [[nodiscard]] const wake_fd& wake() const noexcept { return wake_; }
    [[nodiscard]] liveness_probe& probe() noexcept { return *probe_; }

private:
    void read(roost::detail::metric_sink& to) override;
    void component_failed(const component& which, const std::exception_ptr& error) noexcept override;
    [[nodiscard]] const roost::shutdown& waited_for() const noexcept;

    service::options options_;
    mutable log_writer log_;
    std::string name_;
    schedule times_;
    executor_ref where_;
    wake_fd wake_;
    roost::shutdown root_;
    roost::shutdown work_;
    roost::shutdown resources_;
    service::ledger ledger_;
    component_list components_;
    liveness_probe* probe_ = nullptr;
    atomic<service::phase> phase_{service::phase::running};
    atomic<std::uint32_t> wishes_{0};
    atomic<bool> ready_{false};
    atomic<bool> live_{true};
    atomic<bool> ends_by_hangup_{false};
    atomic<std::int64_t> hard_deadline_{no_deadline.time_since_epoch().count()};
    atomic<int> failure_{exit_code::clean};
    atomic<int> main_code_{exit_code::clean};
    mutable os_mutex lock_;  // guards what follows
    std::string why_;
    std::function<task<>()> reload_;
    bool reloading_ = false;
    bool reload_again_ = false;
    std::vector<std::shared_ptr<void>> kept_;
    bool keeps_ = true;
    task<> run_reload();
};

}  // namespace roost::inline ROOST_ABI::service::detail
