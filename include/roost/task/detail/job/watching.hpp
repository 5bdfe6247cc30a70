#pragma once

// Whether jobs are observed, and the calls to their observers.
//
// A slot for an observer is taken by a compare-exchange and left in two steps: the pointer is cleared, then the callers that
// entered before are waited for. A caller enters first and reads the pointer then, so one of the two sees the other.
//
// fields   none
// I1       an observer is called only between its coming and the end of its leaving
//
// id  operation               order            pairs     carries                                        fails in
// O1  is anybody: load        relaxed          -         nothing: a first look, or O2 and W1 order it   (floor)
// O2  switch on: fetch_or     release          W1        out: the place that was taken (O3)             watching_model: last_leaves_while_another_comes
// O3  take a place: CAS       release/relaxed  O5        out: the observer                              watching_model: told_when_it_comes
// O4  teller in: fetch_add    seq_cst          O6 O7     comes in before it looks                       watching_model: come_and_go
// O5  teller looks: load      seq_cst          O3 O6     in: the observer                               watching_model: come_and_go
// O6  leave: store null       seq_cst          O4 O5     gone before it looks who is in                 watching_model: come_and_go
// O7  leave: load             seq_cst          O4 O8     in: what the tellers did                       watching_model: come_and_go
// O8  teller out: fetch_sub   release          O7        out: it is done with the observer              watching_model: come_and_go
// O9  count: fetch_add, load  relaxed          -         nothing but the number                         (floor)
// W1  switch off: fetch_and   acquire          O2        in: places taken before it was switched on     watching_model: last_leaves_while_another_comes
// W2  counting: fetch_or, and relaxed          -         nothing but the switch                         (floor)

#include <roost/base/atomic.hpp>
#include <roost/task/job_event.hpp>

namespace roost::inline ROOST_ABI::detail {

class job_core;

class watching {
public:
    static constexpr std::uint8_t counted = 1;
    static constexpr std::uint8_t told = 2;
    static constexpr std::size_t places = 8;

    constexpr watching() noexcept = default;
    watching(const watching&) = delete;
    watching& operator=(const watching&) = delete;

    [[nodiscard]] static watching& all() noexcept { return everybody; }
    // Returns what is requested at the moment: counters, observers or nothing. This load is the only cost of nothing.
    [[nodiscard]] static std::uint8_t now() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return 0;  // one scheduling point less in every model; watching_model has its own
#else
        return all().wanted();
#endif
    }
    [[nodiscard]] std::uint8_t wanted() const noexcept { return wanted_.load(mo::relaxed); }  // O1

    bool count(bool on) noexcept;
    [[nodiscard]] job_counts counts() const noexcept;
    void add(job_counts::which w, std::uint64_t n = 1) noexcept;

    // Returns the slot taken; `places` if there is none left.
    [[nodiscard]] std::size_t come(job_observer& who) noexcept;
    void go(std::size_t place) noexcept;
    void tell(const job_event& e) noexcept;

private:
    class alignas(64) place {
    public:
        atomic<job_observer*> who{nullptr};
        atomic<std::uint32_t> inside{0};
    };
    static constexpr std::size_t stripes = 16;
    class alignas(64) stripe {
    public:
        atomic<std::uint64_t> n[job_counts::size]{};
    };

    static watching everybody;
    atomic<std::uint8_t> wanted_{0};
    place observers_[places];
    stripe counts_[stripes];
};

}  // namespace roost::inline ROOST_ABI::detail
