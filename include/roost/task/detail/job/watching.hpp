#pragma once

// Whether jobs are counted or observed, and the calls to their observers.
//
// An observer takes its slot by a compare-exchange. It is removed in two steps: its pointer is cleared, then remove_observer()
// waits for the threads that are notifying it. A notifying thread enters the slot first and reads the pointer then, so one of
// the two sees the other.
//
// fields   none
// I1       an observer is called only between its add_observer() and the end of its remove_observer()
//
// id  operation               order            pairs     carries                                        fails in
// O1  has observers: load     relaxed          -         nothing: a first check, or O2 and W1 order it  (floor)
// O2  switch on: fetch_or     release          W1        out: the slot that was taken (O3)              watching_model: last_removed_while_another_is_added
// O3  add: CAS                release/relaxed  O5        out: the observer                              watching_model: notified_when_added
// O4  notify: fetch_add       seq_cst          O6 O7     enters before it reads the pointer             watching_model: add_and_remove
// O5  notify: load            seq_cst          O3 O6     in: the observer                               watching_model: add_and_remove
// O6  remove: store null      seq_cst          O4 O5     cleared before it checks for threads inside    watching_model: add_and_remove
// O7  remove: load            seq_cst          O4 O8     in: what the notifying threads did             watching_model: add_and_remove
// O8  notify: fetch_sub       release          O7        out: the call has returned                     watching_model: add_and_remove
// O9  count: fetch_add, load  relaxed          -         nothing but the number                         (floor)
// W1  switch off: fetch_and   acquire          O2        in: slots taken before it was switched on      watching_model: last_removed_while_another_is_added
// W2  set: fetch_or, and      relaxed          -         nothing but the switch                         (floor)

#include <roost/base/atomic.hpp>
#include <roost/task/job_event.hpp>

namespace roost::inline ROOST_ABI::detail {

class job_core;

class watching {
public:
    // Bits of wanted().
    static constexpr std::uint8_t counted = 1;
    static constexpr std::uint8_t notified = 2;
    static constexpr std::uint8_t measured = 4;
    // Of a job alone: its delay is being measured.
    static constexpr std::uint8_t timed = 0x80;
    // The bits for which each event of a job is reported.
    static constexpr std::uint8_t reported = counted | notified;
    static constexpr std::size_t slots = 8;

    constexpr watching() noexcept = default;
    watching(const watching&) = delete;
    watching& operator=(const watching&) = delete;

    // Returns the one for all jobs of the program.
    [[nodiscard]] static watching& all() noexcept { return for_all_jobs; }
    // Returns what is requested at the moment: counters, observers or nothing. This load is the only cost of nothing.
    [[nodiscard]] static std::uint8_t now() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return 0;  // one scheduling point less in every model; watching_model has its own
#else
        return all().wanted();
#endif
    }
    [[nodiscard]] std::uint8_t wanted() const noexcept { return wanted_.load(mo::relaxed); }  // O1

    bool count(bool on) noexcept { return (set(counted, on) & counted) != 0; }
    bool measure(bool on) noexcept { return (set(measured, on) & measured) != 0; }
    [[nodiscard]] job_counts counts() const noexcept;
    void add(job_counts::which w, std::uint64_t n = 1) noexcept;

    // Returns the slot taken; `slots` if none is free.
    [[nodiscard]] std::size_t add_observer(job_observer& observer) noexcept;
    // Frees the slot. Blocks until no thread calls its observer. Must not be called by that observer.
    void remove_observer(std::size_t slot) noexcept;
    // Calls every observer.
    void notify(const job_event& e) noexcept;

private:
    class alignas(64) observer_slot {
    public:
        atomic<job_observer*> observer{nullptr};
        atomic<std::uint32_t> inside{0};  // threads that may call it
    };
    static constexpr std::size_t stripes = 16;
    class alignas(64) stripe {
    public:
        atomic<std::uint64_t> n[job_counts::size]{};
    };

    std::uint8_t set(std::uint8_t bit, bool on) noexcept;
    [[nodiscard]] bool has_observers() const noexcept;

    static watching for_all_jobs;
    atomic<std::uint8_t> wanted_{0};
    observer_slot observers_[slots];
    stripe counts_[stripes];
};

}  // namespace roost::inline ROOST_ABI::detail
