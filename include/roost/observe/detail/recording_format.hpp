#pragma once

// The file of a flight recording, version 1: a header, then chunks. All numbers are in the byte order of the machine that wrote
// them; a reader with another byte order refuses the file.
//
//   header   file_header
//   chunk    chunk_header, then `size` bytes:
//     thread   thread_header, then its records (exec/detail/flight_record.hpp)
//     text     the word that stands for it in records (8 bytes), then the text without an end mark
//     end      end_counts: the file is complete
//
// A reader skips chunks of a kind that it does not know. A later version keeps these kinds and the kinds of records.

#include <cstddef>
#include <cstdint>

namespace roost::inline ROOST_ABI::detail {

inline constexpr char recording_magic[8] = {'R', 'O', 'O', 'S', 'T', 'R', 'E', 'C'};
inline constexpr std::uint32_t recording_version = 1;
inline constexpr std::uint32_t recording_byte_order = 0x01020304;
inline constexpr std::size_t longest_recorded_text = 255;

struct file_header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t byte_order;
    std::uint32_t header_size;
    std::uint32_t process;
    std::uint64_t start_ticks;  // two readings of both clocks give the unit of the ticks
    std::int64_t start_ns;
    std::uint64_t end_ticks;
    std::int64_t end_ns;
    std::int64_t wall_ns;  // the time of day at the end, since 1970
};
static_assert(sizeof(file_header) == 64);

enum class chunk_kind : std::uint32_t { thread = 1, text = 2, end = 3 };

struct chunk_header {
    std::uint32_t kind;
    std::uint32_t size;
};
static_assert(sizeof(chunk_header) == 8);

struct thread_header {
    std::uint32_t thread;  // the kernel's number
    std::uint32_t ring;
    std::uint64_t lost;  // records of this thread that were overwritten before they were read
    char name[16];
};
static_assert(sizeof(thread_header) == 32);

struct end_counts {
    std::uint64_t records;
    std::uint64_t lost;  // overwritten, of all threads
    std::uint64_t unrecorded;  // events of threads without a ring
    std::uint64_t unnamed;  // names that did not fit into the table
};
static_assert(sizeof(end_counts) == 32);

}  // namespace roost::inline ROOST_ABI::detail
