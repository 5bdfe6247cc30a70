#include <roost/observe/recording.hpp>

#include <roost/observe/chrome_trace.hpp>
#include <roost/observe/detail/recording_format.hpp>
#include <roost/observe/recorder.hpp>

#include "recorded_jobs.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

using namespace roost;
using namespace roost::observe;
using namespace testing_support;

namespace {

std::string recorded_bytes() {
    recorder::start(recorder_options().records(256));
    run_jobs(20);
    recorder::stop();
    const std::string path = temporary_path("bytes");
    EXPECT_EQ(recorder::write_file(path.c_str()).error(), std::error_code());
    std::string bytes = bytes_of(path);
    ::unlink(path.c_str());
    return bytes;
}

template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return bytes;
}

TEST(recording, OBS_191_refuses_what_is_no_recording) {
    EXPECT_EQ(read_recording("").problem(), "it is no recording of Roost");
    EXPECT_EQ(read_recording(std::string(1000, 'x')).problem(), "it is no recording of Roost");
    const std::string bytes = recorded_bytes();
    EXPECT_EQ(read_recording(bytes).problem(), "");
    EXPECT_EQ(read_recording(with(bytes, offsetof(detail::file_header, version), 2U)).problem(),
              "it has a version that this reader does not know");
    EXPECT_EQ(read_recording(with(bytes, offsetof(detail::file_header, byte_order), 0x04030201U)).problem(),
              "it was written on a machine with another byte order");
    EXPECT_EQ(read_recording(with(bytes, offsetof(detail::file_header, header_size), 0xffffffffU)).problem(),
              "its header is damaged");
}

TEST(recording, OBS_191_every_truncation_keeps_what_came_before) {
    const std::string bytes = recorded_bytes();
    const std::size_t all = read_recording(bytes).events().size();
    ASSERT_GT(all, 100U);
    std::size_t before = 0;
    for (std::size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 37) {
        const recording r = read_recording(std::string_view(bytes).substr(0, size));
        EXPECT_NE(r.problem(), "") << size;
        EXPECT_GE(r.events().size(), before) << size;
        EXPECT_LE(r.events().size(), all);
        before = r.events().size();
    }
    EXPECT_GT(before, all / 2);
}

TEST(recording, OBS_191_damage_is_survived) {
    const std::string bytes = recorded_bytes();
    std::mt19937_64 dice(20240611);
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = bytes;
        for (int i = 0; i < 8; ++i) {
            damaged[dice() % damaged.size()] = static_cast<char>(dice());
        }
        const recording r = read_recording(damaged);
        EXPECT_LE(r.events().size(), damaged.size() / 32);
        EXPECT_LE(to_chrome_trace(r).size(), damaged.size() * 50);
    }
}

TEST(recording, OBS_191_unknown_chunks_are_skipped) {
    std::string bytes = recorded_bytes();
    const std::size_t all = read_recording(bytes).events().size();
    const detail::chunk_header later{77, 5};
    bytes.insert(sizeof(detail::file_header), std::string(reinterpret_cast<const char*>(&later), sizeof later) + "12345");
    EXPECT_EQ(read_recording(bytes).problem(), "");
    EXPECT_EQ(read_recording(bytes).events().size(), all);
}

}  // namespace
