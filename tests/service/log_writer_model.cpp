// Lines on their way to the sink, on the code that ships: every line comes, and no wait is forgotten.

#include <roost/service/detail/log_writer.hpp>
#include <roost/testing/explore_gtest.hpp>

namespace {

using roost::seam::atomic;
using roost::seam::thread;
using roost::service::log_line;
using roost::service::severity;
using roost::service::detail::log_writer;
using roost::testing::check;
namespace mo = roost::seam::mo;

class counting_sink {
public:
    static void take(const log_line&, void* context) noexcept {
        static_cast<counting_sink*>(context)->count.fetch_add(1, mo::seq_cst);
    }
    atomic<int> count{0};
};

log_line some_line() { return log_line(severity::info, "x", roost::ext::wall_time()); }

// SVC-80: what was written before finish() has been in the sink when it returns.
MODEL(log_writer_model, write_vs_finish) {
    counting_sink sink;
    log_writer writer(&counting_sink::take, &sink, 0);
    writer.write(some_line());
    writer.finish();
    check(sink.count.load(mo::seq_cst) == 1, "SVC-80: every line is written");
}

// SVC-100: two threads wait for their own lines; each wait ends, and not too early.
MODEL(log_writer_model, two_flushes) {
    counting_sink sink;
    log_writer writer(&counting_sink::take, &sink, 0);
    thread other([&] {
        writer.write(some_line());
        check(writer.flush(roost::no_deadline), "SVC-100: the other's line is written");
        check(sink.count.load(mo::seq_cst) >= 1, "SVC-100: the other's line has been in the sink");
    });
    writer.write(some_line());
    check(writer.flush(roost::no_deadline), "SVC-100: the line is written");
    check(sink.count.load(mo::seq_cst) >= 1, "SVC-100: the line has been in the sink");
    other.join();
    writer.finish();
    check(sink.count.load(mo::seq_cst) == 2, "SVC-80: every line is written");
}

}  // namespace
