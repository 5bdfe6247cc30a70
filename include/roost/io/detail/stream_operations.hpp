#pragma once

// The operations of a stream: which system call each tries, and what remains to be done after a part.

#include <roost/io/buffer.hpp>
#include <roost/io/detail/operation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::io::detail {

enum class read_amount : std::uint8_t { some, all };
enum class write_amount : std::uint8_t { some, all };

class read_operation : public typed_operation<read_operation> {
public:
    read_operation(pollable* on, mutable_buffer to, read_amount amount) noexcept
        : typed_operation(on, direction::in, &read_operation::attempt,
                          amount == read_amount::some ? "read_some" : "read_exactly"),
          to_(to),
          amount_(amount) {}
    [[nodiscard]] bool needs_no_call() const noexcept { return to_.size() == 0; }
    [[nodiscard]] result<std::size_t> result_of() const noexcept { return counted(); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    mutable_buffer to_;
    read_amount amount_;
};

class read_until_operation : public typed_operation<read_until_operation> {
public:
    read_until_operation(pollable* on, std::string& data, std::string_view delimiter, std::size_t limit) noexcept
        : typed_operation(on, direction::in, &read_until_operation::attempt, "read_until"),
          data_(&data),
          delimiter_(delimiter),
          limit_(limit) {}
    // Returns true if the data has what is asked for, or has reached the limit.
    [[nodiscard]] bool needs_no_call() noexcept;
    [[nodiscard]] result<std::size_t> result_of() const noexcept;

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;
    [[nodiscard]] bool is_found() noexcept;
    bool read_more(readiness::snapshot seen, bool& would_block) noexcept;

    std::string* data_;
    std::string_view delimiter_;
    std::size_t limit_;
    std::size_t searched_ = 0;  // no delimiter begins before this
    std::size_t found_ = 0;     // behind the delimiter
};

class write_operation : public typed_operation<write_operation> {
public:
    write_operation(pollable* on, const_buffer from, write_amount amount) noexcept
        : typed_operation(on, direction::out, &write_operation::attempt,
                          amount == write_amount::some ? "write_some" : "write_all"),
          from_(from),
          amount_(amount) {}
    [[nodiscard]] bool needs_no_call() const noexcept { return from_.size() == 0; }
    [[nodiscard]] result<std::size_t> result_of() const noexcept { return counted(); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    const_buffer from_;
    write_amount amount_;
};

// Several buffers: the part that does not depend on their number.
class gather : public operation {
public:
    using operation::operation;

protected:
    [[nodiscard]] bool attempt_with(iovec* parts, int count, readiness::snapshot seen) noexcept;

private:
    int first_ = 0;  // what is before has been written
};

template <std::size_t N>
class gather_operation : public typed_operation<gather_operation<N>, gather> {
public:
    template <class... Buffer>
    explicit gather_operation(pollable* on, const Buffer&... from) noexcept
        : typed_operation<gather_operation<N>, gather>(on, direction::out, &gather_operation::attempt, "write_all"),
          parts_{iovec{const_cast<char*>(from.data()), from.size()}...} {}
    [[nodiscard]] bool needs_no_call() const noexcept {
        return std::all_of(parts_.begin(), parts_.end(), [](const iovec& part) { return part.iov_len == 0; });
    }
    [[nodiscard]] result<std::size_t> result_of() const noexcept { return this->counted(); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept {
        auto& mine = static_cast<gather_operation&>(self);
        return mine.attempt_with(mine.parts_.data(), static_cast<int>(N), seen);
    }

    std::array<iovec, N> parts_;
};

class send_file_operation : public typed_operation<send_file_operation> {
public:
    send_file_operation(pollable* on, int file, std::uint64_t offset, std::size_t count) noexcept
        : typed_operation(on, direction::out, &send_file_operation::attempt, "send_file"),
          file_(file),
          offset_(offset),
          total_(count) {}
    [[nodiscard]] result<std::size_t> result_of() const noexcept { return counted(); }

private:
    static bool attempt(operation& self, readiness::snapshot seen) noexcept;

    int file_;
    std::uint64_t offset_;
    std::size_t total_;
};

}  // namespace roost::inline ROOST_ABI::io::detail
