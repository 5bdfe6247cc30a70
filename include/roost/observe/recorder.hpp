#pragma once

// The flight recorder: the last events of each thread, in memory, to be written when they are needed.
//
//   observe::recorder::start();                                    usually at the start of the program
//   observe::recorder::prepare_file("/var/lib/app/last.roostrec"); written by the hard deadline of a service, ...
//   observe::recorder::write_on_crash();                           ... and by a crash
//   ...
//   observe::recorder::write_file("now.roostrec");                 on demand
//   observe::to_chrome_trace(observe::recorder::snapshot());       for ui.perfetto.dev
//
// A thread writes its events into a ring of its own and overwrites the oldest. What is lost that way is counted. While nothing is
// recorded an event costs a plain load. A library that is unloaded while its literal names are in a recording makes reading it
// undefined.

#include <roost/base/clock.hpp>
#include <roost/observe/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace roost::inline ROOST_ABI::observe {

// How much memory a recording may take: threads * records * 32 bytes, and 136 bytes per name.
class recorder_options {
public:
    constexpr recorder_options() noexcept = default;
    // Keeps the last n records of each thread, rounded up to a power of two, from 16 to 2^24. Rings are never freed: a later start
    // uses those of an earlier one, or makes larger ones.
    [[nodiscard]] constexpr recorder_options records(std::size_t n) const noexcept {
        recorder_options changed = *this;
        changed.records_ = n;
        return changed;
    }
    // Records at most n threads, at most 1024. Events of others are counted as unrecorded. A thread that ended leaves its ring to
    // a new one.
    [[nodiscard]] constexpr recorder_options threads(std::size_t n) const noexcept {
        recorder_options changed = *this;
        changed.threads_ = n;
        return changed;
    }
    // Keeps at most n copies of names that are no literals, rounded up to a power of two. Others are recorded as "other". Only the
    // first start of the process decides.
    [[nodiscard]] constexpr recorder_options names(std::size_t n) const noexcept {
        recorder_options changed = *this;
        changed.names_ = n;
        return changed;
    }
    [[nodiscard]] constexpr std::size_t records() const noexcept { return records_; }
    [[nodiscard]] constexpr std::size_t threads() const noexcept { return threads_; }
    [[nodiscard]] constexpr std::size_t names() const noexcept { return names_; }

private:
    std::size_t records_ = 8192;
    std::size_t threads_ = 64;
    std::size_t names_ = 1024;
};

// What became of writing a recording.
class [[nodiscard]] recording_written {
public:
    recording_written() noexcept = default;
    explicit recording_written(std::error_code error, std::uint64_t bytes = 0, std::uint64_t records = 0,
                               std::uint64_t lost = 0) noexcept
        : error_(error), bytes_(bytes), records_(records), lost_(lost) {}
    // Returns why the file is not complete; empty if it is. timed_out: the reader took too long.
    [[nodiscard]] std::error_code error() const noexcept { return error_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
    // Returns how many records are not in the file: overwritten before they were read, or not accepted by the file.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    std::error_code error_;
    std::uint64_t bytes_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t lost_ = 0;
};

// All functions are thread-safe.
class recorder {
public:
    // Begins a new recording, which replaces the last one. Returns false if one is on already; that goes on. Throws
    // std::bad_alloc.
    static bool start(const recorder_options& how = {});
    // Ends recording. What was recorded can still be read. Returns false if nothing was recorded.
    static bool stop() noexcept;
    [[nodiscard]] static bool is_on() noexcept;

    // Returns what is recorded at the moment. The program runs on meanwhile. Throws std::bad_alloc.
    [[nodiscard]] static recording snapshot();
    // Writes a file, from the calling thread. A file that exists is replaced. After an error the file holds what was written so
    // far, which read_recording() accepts.
    static recording_written write_file(const char* path) noexcept;
    // Writes to a descriptor. For a pipe or socket it waits for the reader, at most for `limit` in all.
    static recording_written write_to(int descriptor, duration limit = std::chrono::seconds(5)) noexcept;

    // Opens the file, empties it, and allocates what write_prepared() needs. Replaces the file that was prepared before. Throws
    // std::system_error or std::bad_alloc.
    static void prepare_file(const char* path);
    // Writes the prepared file, once; later calls fail with operation_not_permitted. Fails with bad_file_descriptor if none is
    // prepared. Async-signal-safe: it allocates nothing and takes no lock. The hard deadline of a service calls it.
    static recording_written write_prepared() noexcept;
    // Has SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write the prepared file. Then the handler that was installed before runs, or
    // the process ends. The handler uses an alternate signal stack if the thread has one. Throws std::system_error.
    static void write_on_crash();
};

}  // namespace roost::inline ROOST_ABI::observe
