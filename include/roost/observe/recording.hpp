#pragma once

// A recording that was read: from a file, or from this process (observe/recorder.hpp). A tool that reads the files of other
// programs needs only this header.
//
//   observe::recording r = observe::read_recording(bytes);
//   if (!r.problem().empty()) ...                     truncated or damaged: what came before the problem was read
//   std::string json = observe::to_chrome_trace(r);

#include <roost/base/clock.hpp>
#include <roost/exec/detail/flight_record.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roost::inline ROOST_ABI::observe {

using recorded_kind = detail::event_kind;
[[nodiscard]] std::string_view to_string(recorded_kind kind) noexcept;

// One event. The table in exec/detail/flight_record.hpp defines subject, first and second of each kind.
class recorded_event {
public:
    recorded_event(recorded_kind kind, std::uint32_t thread, std::int64_t ns, const detail::flight_record& r) noexcept
        : ns_(ns), subject_(r.subject()), first_(r.first()), second_(r.second()), thread_(thread), kind_(kind) {}

    [[nodiscard]] recorded_kind kind() const noexcept { return kind_; }
    // Returns the index into recording::threads().
    [[nodiscard]] std::uint32_t thread() const noexcept { return thread_; }
    [[nodiscard]] time_point time() const noexcept { return time_point(duration(ns_)); }
    [[nodiscard]] std::uint64_t subject() const noexcept { return subject_; }
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t second() const noexcept { return second_; }

private:
    std::int64_t ns_;
    std::uint64_t subject_;
    std::uint64_t first_;
    std::uint64_t second_;
    std::uint32_t thread_;
    recorded_kind kind_;
};

// A thread that left events.
class recorded_thread {
public:
    recorded_thread(std::string name, std::uint32_t id, std::uint64_t lost) noexcept
        : name_(std::move(name)), id_(id), lost_(lost) {}
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    // Returns the thread's id in the kernel.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    // Returns how many records of this thread were overwritten before they were read.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    std::string name_;
    std::uint32_t id_;
    std::uint64_t lost_;
};

// Events, threads and texts. A plain value.
class recording {
public:
    [[nodiscard]] const std::vector<recorded_thread>& threads() const noexcept { return threads_; }
    // Returns the events in the order of their times.
    [[nodiscard]] const std::vector<recorded_event>& events() const noexcept { return events_; }
    // Returns the text for a word of an event; empty if it has none. Names that did not fit are "other".
    [[nodiscard]] std::string_view text(std::uint64_t word) const noexcept;
    // Returns "server.cpp:88" for a word that is a place; empty if the place is unknown. Throws std::bad_alloc.
    [[nodiscard]] std::string place(std::uint64_t word) const;

    // Returns the id of the process that wrote the recording.
    [[nodiscard]] std::uint32_t process() const noexcept { return process_; }
    // Returns the time of day when the recording was written, in nanoseconds since 1970.
    [[nodiscard]] std::int64_t written_at() const noexcept { return wall_ns_; }
    // Returns the time when it was written, on the clock of the events' times.
    [[nodiscard]] time_point ended_at() const noexcept { return time_point(duration(end_ns_)); }
    // Returns how many records were overwritten before they were read.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    // Returns how many events were not recorded, because their thread had no ring.
    [[nodiscard]] std::uint64_t unrecorded() const noexcept { return unrecorded_; }
    // Returns how many names were recorded as "other".
    [[nodiscard]] std::uint64_t unnamed() const noexcept { return unnamed_; }
    // Returns a sentence about what is wrong with the bytes; empty if they are a complete recording. What came before the
    // problem was read.
    [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

private:
    friend class recording_parser;
    std::vector<recorded_thread> threads_;
    std::vector<recorded_event> events_;
    std::unordered_map<std::uint64_t, std::string> texts_;
    std::uint32_t process_ = 0;
    std::int64_t wall_ns_ = 0;
    std::int64_t end_ns_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t unrecorded_ = 0;
    std::uint64_t unnamed_ = 0;
    std::string_view problem_;
};

// Reads a recording from the bytes of a file. Accepts any bytes, and uses memory in proportion to their number. Thread-safe.
// Throws std::bad_alloc.
[[nodiscard]] recording read_recording(std::string_view bytes);

}  // namespace roost::inline ROOST_ABI::observe
