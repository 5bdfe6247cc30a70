#include <roost/observe/metrics_text.hpp>

#include <roost/observe/metrics.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace roost;
using metrics::registry;
using metrics::text_format;

bool contains(const std::string& text, std::string_view line) {
    return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

// Everything that a name, a help or a value can do to a format.
class full {
public:
    full() {
        const metrics::labelled<metrics::counter> by("odd_values_total", "With \"quotes\", a \\ and\na line.", {"a", "b"},
                                                     in_);
        by.with({"q\"q", "s\\s"}).add(3);
        by.with({"l\nl", "\xff\xfe"}).add(4, metrics::exemplar("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"));
        const metrics::gauge gauge("temperature", "Now.", in_);
        gauge.set(-1.5e300);
        const metrics::histogram took("took_seconds", "Time.", metrics::buckets{0.001, 0.1, 1}, in_);
        took.record(0.05, metrics::exemplar("trace\"\n\\"));
        took.record(7, metrics::exemplar(std::string_view(long_)));
        const metrics::labelled<metrics::histogram> sizes("size_bytes", "Sizes.", {"of"}, metrics::buckets::bytes(), in_);
        sizes.with({""}).record(100.0);
    }
    [[nodiscard]] const registry& in() const { return in_; }

private:
    std::string long_ = std::string(10'240, 'y');
    registry in_;
};

// Returns the exit code of the command with `text` as its input, or -1.
int run(const std::string& command, const std::string& text) {
    std::FILE* pipe = ::popen(command.c_str(), "w");
    if (pipe == nullptr) {
        return -1;
    }
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), pipe));
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(metrics_text, OBS_154_prometheus_text) {
    const full all;
    const std::string text = to_prometheus(all.in());
    EXPECT_TRUE(contains(text, "# HELP odd_values_total With \"quotes\", a \\\\ and\\na line.")) << text;
    EXPECT_TRUE(contains(text, "# TYPE odd_values_total counter"));
    EXPECT_TRUE(contains(text, R"(odd_values_total{a="q\"q",b="s\\s"} 3)"));
    EXPECT_TRUE(contains(text, "temperature -1.5e+300"));
    EXPECT_TRUE(contains(text, R"(took_seconds_bucket{le="0.1"} 1)"));
    EXPECT_EQ(text.find(" # {"), std::string::npos);
    EXPECT_EQ(text.find("# EOF"), std::string::npos);
}

TEST(metrics_text, OBS_155_openmetrics_text) {
    const full all;
    const std::string text = to_openmetrics(all.in());
    EXPECT_TRUE(contains(text, "# HELP odd_values With \\\"quotes\\\", a \\\\ and\\na line.")) << text;
    EXPECT_TRUE(contains(text, "# TYPE odd_values counter"));
    EXPECT_TRUE(contains(text, "# UNIT took_seconds seconds"));
    EXPECT_TRUE(text.ends_with("# EOF\n"));
    EXPECT_EQ(text.find("# EOF"), text.size() - 6);
}

TEST(metrics_text, OBS_156_openmetrics_shows_exemplars) {
    const full all;
    const std::string text = to_openmetrics(all.in());
    EXPECT_NE(text.find("} 4 # {trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"00f067aa0ba902b7\"} 4 "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"(took_seconds_bucket{le="0.1"} 1 # {trace_id="trace\"\n\\"} 0.05 )"), std::string::npos);
    EXPECT_NE(text.find(R"(took_seconds_bucket{le="+Inf"} 2 # {trace_id=")" + std::string(64, 'y') + "\"} 7 "),
              std::string::npos);
}

TEST(metrics_text, OBS_154_promtool_accepts_it) {
    if (run("promtool --version > /dev/null 2>&1", "") != 0) {
        GTEST_SKIP() << "promtool is not installed";
    }
    const full all;
    EXPECT_EQ(run("promtool check metrics", to_prometheus(all.in())), 0);
    EXPECT_NE(run("promtool check metrics > /dev/null 2>&1", "no metric {"), 0) << "the test itself would see a mistake";
}

TEST(metrics_text, OBS_155_the_reference_parser_accepts_it) {
    const std::string parse =
        "/usr/bin/python3 -c 'import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families "
        "as parse; "
        "print(len(list(parse(sys.stdin.read()))))' > /dev/null";
    if (run("/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2> /dev/null", "") != 0) {
        GTEST_SKIP() << "python3-prometheus-client is not installed";
    }
    const full all;
    EXPECT_EQ(run(parse, to_openmetrics(all.in())), 0);
    EXPECT_NE(run(parse + " 2>&1", "a 1\n"), 0) << "the test itself would see a mistake";
}

TEST(metrics_text, OBS_157_the_accept_header_chooses_the_format) {
    const auto open = text_format::openmetrics;
    const auto plain = text_format::prometheus;
    EXPECT_EQ(metrics::format_for(""), plain);
    EXPECT_EQ(metrics::format_for("*/*"), plain);
    EXPECT_EQ(metrics::format_for("text/html, */*;q=0.8"), plain);
    EXPECT_EQ(
        metrics::format_for("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                            "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
        open);
    EXPECT_EQ(metrics::format_for("application/openmetrics-text; version=\"1.0.0\""), open);
    EXPECT_EQ(metrics::format_for("Application/OpenMetrics-Text"), open);
    EXPECT_EQ(metrics::format_for("application/openmetrics-text; version=2.0.0"), plain);
    EXPECT_EQ(metrics::format_for("application/openmetrics-text;q=0"), plain);
    EXPECT_EQ(metrics::format_for("application/openmetrics-text;q=0.3, text/plain;q=0.5"), plain);
    EXPECT_EQ(metrics::format_for("application/openmetrics-text;q=nan"), plain);
    EXPECT_EQ(metrics::format_for(";;;,,,=;q=,\xff"), plain);
    EXPECT_EQ(metrics::content_type_for("application/openmetrics-text"),
              "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_EQ(metrics::content_type_for("*/*"), "text/plain; version=0.0.4; charset=utf-8");
    const registry none;
    EXPECT_EQ(metrics::to_text("application/openmetrics-text", none), "# EOF\n");
    EXPECT_EQ(metrics::to_text("", none), "");
}

}  // namespace
