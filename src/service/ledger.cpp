#include <roost/service/ledger.hpp>

#include <exception>

namespace roost::inline ROOST_ABI::service {

std::string ledger_counts::to_string() const {
    return "ledger: accepted=" + std::to_string(accepted_) + " completed=" + std::to_string(completed_) +
           " failed=" + std::to_string(failed_) + " cancelled=" + std::to_string(cancelled_) +
           " abandoned=" + std::to_string(abandoned_) + " lost=" + std::to_string(open());
}

ledger::entry ledger::accept() noexcept {
    accepted_.fetch_add(1, mo::relaxed);  // G1
    return entry(*this);
}

// What is settled was accepted before, so reading in this order never shows more settled than accepted.
ledger_counts ledger::read() const noexcept {
    std::uint64_t n[4];
    for (std::size_t i = 0; i < 4; ++i) {
        n[i] = settled_[i].load(mo::acquire);  // G2
    }
    return {accepted_.load(mo::relaxed), n[0], n[1], n[2], n[3]};  // G4
}

ledger::entry::entry(ledger& book) noexcept : book_(&book), throwing_(std::uncaught_exceptions()) {}

void ledger::entry::drop() noexcept {
    if (is_open()) {
        settle(std::uncaught_exceptions() > throwing_ ? settled::failed : settled::cancelled);
    }
}

}  // namespace roost::inline ROOST_ABI::service
