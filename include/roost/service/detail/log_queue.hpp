#pragma once

// The lines that wait for the log's writer: a ring of bytes that is allocated once, so that logging does not allocate. When
// it is full the oldest line is dropped and counted. Used under its owner's lock.

#include <roost/service/log_sink.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace roost::inline ROOST_ABI::service::detail {

class log_queue {
public:
    static constexpr std::size_t least_bytes = 4096;

    explicit log_queue(std::size_t bytes);  // throws std::bad_alloc

    // Cuts a line that is longer than longest(); the line then ends with the number of bytes cut.
    void push(const log_line& line) noexcept;
    // Moves the oldest line to `buffer`, which has longest() bytes, and returns it. Requires that there is one.
    [[nodiscard]] log_line pop(char* buffer) noexcept;

    [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
    [[nodiscard]] std::size_t longest() const noexcept { return size_ / 8; }
    // Returns how many lines push() has dropped since the last call.
    [[nodiscard]] std::uint64_t take_dropped() noexcept;

private:
    class head;  // of one line in the ring
    void write(const void* from, std::size_t n) noexcept;
    void read(void* to, std::size_t n) noexcept;
    void drop_oldest() noexcept;

    std::size_t size_;
    std::unique_ptr<char[]> ring_;
    std::size_t first_ = 0;  // where the oldest line begins
    std::size_t used_ = 0;
    std::size_t lines_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace roost::inline ROOST_ABI::service::detail
