#pragma once

// Accounts for accepted work: every entry is settled exactly once, so lost work is detected.
//
//   auto order = books.accept();
//   ... co_await store(...);
//   order.complete();
//
// An entry that is destroyed unsettled counts as failed during stack unwinding, else as cancelled. A cancelled job destroys
// its entries that way. When the service is forced to end, open entries count as abandoned. When it ends by itself, an open
// entry is lost work, and the exit code is broken_invariant.
//
// id  operation             order    pairs  carries                                                  fails in
// G1  counters: fetch_add   relaxed  -      statistics; settled after accepted, on whatever thread   (floor: see read())
// G2  read: settled         acquire  G3     settled first, then accepted: lost is never negative     ledger_model: read_while_settling
// G3  settle: fetch_add     release  G2     the entry's own G1                                       ledger_model: read_while_settling
// G4  read: accepted        relaxed  -      nothing is read behind it; G2 says how old it may be     (floor)

#include <roost/base/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::service {

enum class settled : std::uint8_t { completed, failed, cancelled, abandoned };

// A snapshot of the counters.
class ledger_counts {
public:
    constexpr ledger_counts() noexcept = default;
    constexpr ledger_counts(std::uint64_t accepted, std::uint64_t completed, std::uint64_t failed, std::uint64_t cancelled,
                            std::uint64_t abandoned) noexcept
        : accepted_(accepted), completed_(completed), failed_(failed), cancelled_(cancelled), abandoned_(abandoned) {}

    [[nodiscard]] constexpr std::uint64_t accepted() const noexcept { return accepted_; }
    [[nodiscard]] constexpr std::uint64_t completed() const noexcept { return completed_; }
    [[nodiscard]] constexpr std::uint64_t failed() const noexcept { return failed_; }
    [[nodiscard]] constexpr std::uint64_t cancelled() const noexcept { return cancelled_; }
    [[nodiscard]] constexpr std::uint64_t abandoned() const noexcept { return abandoned_; }
    [[nodiscard]] constexpr std::uint64_t all_settled() const noexcept {
        return completed_ + failed_ + cancelled_ + abandoned_;
    }
    // Returns accepted minus settled: work in flight while the service runs, lost work after its end.
    [[nodiscard]] constexpr std::uint64_t open() const noexcept { return accepted_ - all_settled(); }
    // Returns these counts with everything open counted as abandoned: the ledger of a forced end.
    [[nodiscard]] constexpr ledger_counts forced() const noexcept {
        return {accepted_, completed_, failed_, cancelled_, abandoned_ + open()};
    }

    // Returns "ledger: accepted=5 completed=3 failed=1 cancelled=1 abandoned=0 lost=0".
    [[nodiscard]] std::string to_string() const;
    // As to_string(). Does not allocate.
    static constexpr std::size_t longest_text = 192;
    [[nodiscard]] std::string_view write_to(char (&to)[longest_text]) const noexcept;

private:
    std::uint64_t accepted_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t cancelled_ = 0;
    std::uint64_t abandoned_ = 0;
};

class ledger {
public:
    class entry;

    ledger() noexcept = default;
    ledger(const ledger&) = delete;
    ledger& operator=(const ledger&) = delete;

    // Thread-safe.
    [[nodiscard]] entry accept() noexcept;
    [[nodiscard]] ledger_counts read() const noexcept;

private:
    void settle(settled how) noexcept {
        settled_[static_cast<std::size_t>(how)].fetch_add(1, seam::mo::release);  // G3
    }

    alignas(64) seam::atomic<std::uint64_t> accepted_{0};
    alignas(64) seam::atomic<std::uint64_t> settled_[4];
};

// One piece of accepted work. Movable. Any thread may settle it, one thread at a time. The first call settles it; later
// calls do nothing.
class [[nodiscard]] ledger::entry {
public:
    entry() noexcept = default;  // an empty entry, of no ledger
    entry(entry&& other) noexcept : book_(std::exchange(other.book_, nullptr)), throwing_(other.throwing_) {}
    entry& operator=(entry&& other) noexcept {
        if (this != &other) {
            drop();
            book_ = std::exchange(other.book_, nullptr);
            throwing_ = other.throwing_;
        }
        return *this;
    }
    ~entry() { drop(); }

    void complete() noexcept { settle(settled::completed); }
    void fail() noexcept { settle(settled::failed); }
    void cancel() noexcept { settle(settled::cancelled); }
    void abandon() noexcept { settle(settled::abandoned); }
    [[nodiscard]] bool is_open() const noexcept { return book_ != nullptr; }

private:
    friend class ledger;
    explicit entry(ledger& book) noexcept;
    void settle(settled how) noexcept {
        if (ledger* book = std::exchange(book_, nullptr)) {
            book->settle(how);
        }
    }
    void drop() noexcept;

    ledger* book_ = nullptr;
    int throwing_ = 0;
};

}  // namespace roost::inline ROOST_ABI::service
