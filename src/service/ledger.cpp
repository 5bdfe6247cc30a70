// Orders G1 to G4: service/ledger.hpp.

#include <roost/service/ledger.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>

namespace roost::inline ROOST_ABI::service {

using namespace seam;

std::string_view ledger_counts::write_to(char (&to)[longest_text]) const noexcept {
    char* at = to;
    const auto add = [&](std::string_view label, std::uint64_t n) {
        at = std::copy(label.begin(), label.end(), at);
        at = std::to_chars(at, std::end(to), n).ptr;
    };
    static_assert(sizeof "ledger: accepted= completed= failed= cancelled= abandoned= lost=" + 6 * 20 <= longest_text);
    add("ledger: accepted=", accepted_);
    add(" completed=", completed_);
    add(" failed=", failed_);
    add(" cancelled=", cancelled_);
    add(" abandoned=", abandoned_);
    add(" lost=", open());
    return {to, static_cast<std::size_t>(at - to)};
}

std::string ledger_counts::to_string() const {
    char text[longest_text];
    return std::string(write_to(text));
}

ledger::entry ledger::accept() noexcept {
    accepted_.fetch_add(1, mo::relaxed);  // G1
    return entry(*this);
}

// Entries are accepted before they are settled, so reading in this order never shows more settled than accepted.
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
