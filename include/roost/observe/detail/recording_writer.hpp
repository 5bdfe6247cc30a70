#pragma once

// Writes the rings of the recorder in the format of recording_format.hpp, while the program runs on. Async-signal-safe if its sink
// is: it uses the memory that it was given, and no lock.

#include <roost/exec/detail/flight_recorder.hpp>
#include <roost/observe/detail/recording_format.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

// Takes bytes. Returns false when it takes no more.
class recording_sink {
public:
    recording_sink() = default;
    recording_sink(const recording_sink&) = delete;
    recording_sink& operator=(const recording_sink&) = delete;
    [[nodiscard]] virtual bool take(const void* bytes, std::size_t size) noexcept = 0;

protected:
    ~recording_sink() = default;
};

// The memory that a writer needs. Allocates.
class writer_memory {
public:
    explicit writer_memory(std::size_t size)
        : room(size), records(new flight_record[size]), seen(new std::uint64_t[texts]()) {}

    static constexpr std::size_t texts = 4096;
    std::size_t room;
    std::unique_ptr<flight_record[]> records;
    std::unique_ptr<std::uint64_t[]> seen;
};

class recording_writer {
public:
    recording_writer(writer_memory& memory, recording_sink& to) noexcept : memory_(memory), to_(to) {}

    // Returns false if the sink took no more.
    [[nodiscard]] bool run() noexcept;
    // Returns how many records the sink has taken, and how many were lost: overwritten, or not taken.
    [[nodiscard]] std::uint64_t written() const noexcept { return counts_.records; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return counts_.lost; }

private:
    [[nodiscard]] bool write_header() noexcept;
    [[nodiscard]] bool write_ring(std::uint32_t index, const thread_ring& ring) noexcept;
    [[nodiscard]] bool write_texts(const flight_record* records, std::size_t count) noexcept;
    [[nodiscard]] bool write_text(std::uint64_t word) noexcept;
    [[nodiscard]] bool write_chunk(chunk_kind kind, const void* head, std::size_t head_size, const void* body,
                                   std::size_t body_size) noexcept;
    [[nodiscard]] bool is_new(std::uint64_t word) noexcept;

    writer_memory& memory_;
    recording_sink& to_;
    end_counts counts_{};
};

}  // namespace roost::inline ROOST_ABI::detail
