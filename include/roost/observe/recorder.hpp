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
// Each thread writes its events into a ring of its own and overwrites the oldest. Overwritten records are counted. While no
// recording is on, an event costs one relaxed load. Requires that a library stays loaded while its literal names are in a
// recording.

#include <roost/base/clock.hpp>
#include <roost/observe/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace roost::inline ROOST_ABI::observe {

// How much memory a recording may use: threads * records * 32 bytes, and 128 bytes per name.
class recorder_options {
public:
    constexpr recorder_options() noexcept = default;
    // Keeps the last n records of each thread: at least 16, at most 2^24, rounded up to a power of two. Rings are never
    // freed. A later start() uses the rings of an earlier one, or makes larger ones. Default: 8192.
    [[nodiscard]] constexpr recorder_options records(std::size_t n) const noexcept {
        recorder_options changed = *this;
        changed.records_ = n;
        return changed;
    }
    // Records n threads, at most 1024. Events of further threads are counted: recording::unrecorded(). When a thread has
    // ended, a new thread may use its ring. Default: 64.
    [[nodiscard]] constexpr recorder_options threads(std::size_t n) const noexcept {
        recorder_options changed = *this;
        changed.threads_ = n;
        return changed;
    }
    // Keeps at most n copies of names that are no literals, rounded up to a power of two. Further names are recorded as
    // "other". Only the first start() of the process has an effect. Default: 1024.
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

// The result of writing a recording.
class [[nodiscard]] recording_written {
public:
    recording_written() noexcept = default;
    explicit recording_written(std::error_code error, std::uint64_t bytes = 0, std::uint64_t records = 0,
                               std::uint64_t lost = 0) noexcept
        : error_(error), bytes_(bytes), records_(records), lost_(lost) {}
    // Returns why the file is not complete. Returns an empty code if it is complete. timed_out: the reader took too long.
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
    // Begins a new recording, which replaces the last one. Returns false if a recording is on; it continues. Throws
    // std::bad_alloc.
    static bool start(const recorder_options& how = {});
    // Ends the recording. Its records can still be read. Returns false if no recording was on.
    static bool stop() noexcept;
    // Returns true while a recording is on.
    [[nodiscard]] static bool is_on() noexcept;

    // Returns a copy of the recording. The program runs on meanwhile. Throws std::bad_alloc.
    [[nodiscard]] static recording snapshot();
    // Writes the recording to a file with mode 0600, on the calling thread, and replaces a file that exists. Blocks while
    // the disk does. After an error the file has what was written so far; read_recording() accepts it.
    static recording_written write_file(const char* path) noexcept;
    // Writes the recording to a descriptor. Waits for the reader of a pipe or socket, at most for `limit` in total.
    static recording_written write_to(int descriptor, duration limit = std::chrono::seconds(5)) noexcept;

    // Opens the file, empties it, and allocates what write_prepared() needs. Replaces the file that was prepared before.
    // Call it after start(): the memory is enough for the rings that exist now. Throws std::system_error or std::bad_alloc.
    static void prepare_file(const char* path);
    // Writes the prepared file, once; a later call returns operation_not_permitted. Returns bad_file_descriptor if no file is
    // prepared. Async-signal-safe: it takes no lock and does not allocate. Called at the hard deadline of a service.
    static recording_written write_prepared() noexcept;
    // Makes SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write the prepared file. Then the handler that was installed before
    // runs, or the process ends. The handler runs on the thread's alternate signal stack, if it has one. Throws
    // std::system_error.
    static void write_on_crash();
};

}  // namespace roost::inline ROOST_ABI::observe
