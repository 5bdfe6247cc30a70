#pragma once

// Writes to a file, pipe, socket or terminal without waiting for its reader longer than a limit. Async-signal-safe.

#include <roost/base/clock.hpp>
#include <roost/observe/detail/recording_writer.hpp>

#include <cstddef>
#include <cstdint>

#include <signal.h>

namespace roost::inline ROOST_ABI::detail {

class descriptor_sink final : public recording_sink {
public:
    // The descriptor stays the caller's.
    descriptor_sink(int descriptor, duration limit) noexcept;
    ~descriptor_sink();

    [[nodiscard]] bool take(const void* bytes, std::size_t size) noexcept override;
    // Writes what is buffered.
    [[nodiscard]] bool flush() noexcept;
    // Returns the number of the first error, 0 if there was none.
    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    enum class kind : unsigned char { file, socket, other };
    [[nodiscard]] bool put(const char* bytes, std::size_t size) noexcept;
    [[nodiscard]] long put_some(const char* bytes, std::size_t size) const noexcept;
    [[nodiscard]] bool wait_for_room() const noexcept;

    int fd_;
    int own_ = -1;  // the same pipe or terminal, opened again as non-blocking
    kind kind_ = kind::other;
    int error_ = 0;
    time_point until_;
    std::uint64_t bytes_ = 0;
    std::size_t used_ = 0;
    ::sigset_t mask_;
    bool had_sigpipe_ = false;
    char buffer_[2048];
};

}  // namespace roost::inline ROOST_ABI::detail
