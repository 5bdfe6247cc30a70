// A reader never sees more settled than accepted, in any interleaving (SVC-71).

#include <roost/service/ledger.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::seam::thread;
using roost::service::ledger;
using roost::service::ledger_counts;
using roost::testing::check;

MODEL(ledger_model, read_while_settling) {
    ledger book;
    thread worker([&] { book.accept().complete(); });
    const ledger_counts seen = book.read();
    check(seen.all_settled() <= seen.accepted(), "SVC-71: nothing is settled before it is accepted");
    worker.join();
    check(book.read().completed() == 1 && book.read().open() == 0, "SVC-71: settled once");
}

// Two at once: none is lost.
MODEL(ledger_model, two_at_once) {
    ledger book;
    thread worker([&] { book.accept().complete(); });
    book.accept().complete();
    worker.join();
    check(book.read().accepted() == 2 && book.read().completed() == 2, "SVC-71: both are in the books");
}

// Accepted by one thread, settled by another: the reader still never sees it the wrong way round.
MODEL(ledger_model, handed_on) {
    ledger book;
    ledger::entry order = book.accept();
    thread worker([&] { order.fail(); });
    const ledger_counts seen = book.read();
    check(seen.all_settled() <= seen.accepted(), "SVC-71: nothing is settled before it is accepted");
    worker.join();
    check(book.read().failed() == 1, "SVC-71: settled once");
}

}  // namespace
