#pragma once

// Reads the Redis protocol, version 2 (RESP2). Knows no sockets.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kv {

using arguments = std::span<const std::string_view>;

// Returns the integer that `text` is, written as Redis accepts it: no plus, no space, no leading zero.
[[nodiscard]] inline std::optional<std::int64_t> to_integer(std::string_view text) noexcept {
    const bool padded = text.starts_with("-0") || (text.starts_with('0') && text.size() > 1);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return padded || error != std::errc() || end != text.data() + text.size() ? std::nullopt : std::optional(n);
}

// Reads requests: arrays of bulk strings, and lines as typed by hand. Reads each byte once, however small the pieces are.
class request_reader {
public:
    // Returns room for the bytes that arrive next. Called after next() has returned false.
    [[nodiscard]] std::span<char> room() {
        if (is_idle()) begin_ = at_ = end_ = 0;
        if (buffer_.size() == end_) grow();
        return std::span(buffer_).subspan(end_);
    }
    void filled(std::size_t n) noexcept { end_ += n; }  // so many bytes of room() have arrived

    // Returns true if a whole request has arrived. request() is valid until the next call of next() or room().
    [[nodiscard]] bool next() {
        if (missing_ == 0) arguments_.clear(), begin_ = at_;
        while (error_.empty()) {
            if (wanted_ > 0) {
                if (end_ - at_ < wanted_) return false;
                arguments_.emplace_back(buffer_.data() + at_, wanted_ - 2);
                at_ += std::exchange(wanted_, 0);
                --missing_;
            } else if (!read_line()) {
                return false;
            }
            if (missing_ == 0 && !arguments_.empty()) return true;
        }
        return false;
    }
    [[nodiscard]] arguments request() const noexcept { return arguments_; }
    // The reply to a malformed request, otherwise empty. What follows has no meaning, so the connection has to be closed.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] bool is_idle() const noexcept { return missing_ == 0 && at_ == end_; }  // no request has begun
    [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.size(); }

private:
    static constexpr std::size_t first_size = 16 << 10;
    static constexpr std::size_t longest_line = 64 << 10;
    static constexpr std::size_t most_bytes = 64 << 20;  // longer requests are refused when their lengths are known
    static constexpr std::int64_t most_arguments = 1 << 20;

    // Keeps the request that has begun. Doubles, so each byte is moved a few times at most.
    void grow() {
        std::string larger(std::max(first_size, 2 * (end_ - begin_)), '\0');
        const char* const from = buffer_.data() + begin_;
        std::copy(from, from + (end_ - begin_), larger.data());
        for (auto& a : arguments_) a = {larger.data() + (a.data() - from), a.size()};
        buffer_ = std::move(larger);
        at_ -= begin_;
        end_ -= std::exchange(begin_, 0);
    }

    // Reads the number of arguments, the length of one, or an inline request. As in Redis, empty requests have no reply.
    bool read_line() {
        const std::string_view arrived(buffer_.data() + at_, std::min(end_ - at_, longest_line));
        const std::size_t size = arrived.find('\n', std::exchange(searched_, 0));
        if (size == arrived.npos) {
            searched_ = arrived.size();
            return searched_ == longest_line && fail("too long line");
        }
        const std::string_view line = arrived.substr(0, size);
        const auto n = line.ends_with('\r') ? to_integer(line.substr(1, size - 2)) : std::nullopt;
        at_ += size + 1;
        if (missing_ > 0) {
            const bool fits =
                line.starts_with('$') && n && *n >= 0 && at_ - begin_ + static_cast<std::size_t>(*n) <= most_bytes;
            wanted_ = fits ? static_cast<std::size_t>(*n) + 2 : 0;  // with its line break
            return fits || fail("invalid bulk length");
        }
        if (!line.starts_with('*')) return split(line), true;
        missing_ = static_cast<std::size_t>(std::max<std::int64_t>(n.value_or(0), 0));
        return (n && *n <= most_arguments) || fail("invalid multibulk length");
    }

    void split(std::string_view line) {
        constexpr std::string_view spaces = " \t\r";
        for (std::size_t at = 0, end = 0; (at = line.find_first_not_of(spaces, end)) != line.npos;) {
            end = std::min(line.find_first_of(spaces, at), line.size());
            arguments_.push_back(line.substr(at, end - at));
        }
    }

    bool fail(const char* why) { return error_ = std::string("-ERR Protocol error: ") + why + "\r\n", false; }

    std::string buffer_;
    std::size_t begin_ = 0;  // of the request
    std::size_t at_ = 0;  // what is before has been read
    std::size_t end_ = 0;  // of what has arrived
    std::size_t searched_ = 0;  // so many bytes after at_ have no line feed
    std::size_t missing_ = 0;  // arguments of the request
    std::size_t wanted_ = 0;  // bytes of the next argument, if its length has been read
    std::vector<std::string_view> arguments_;
    std::string error_;
};

}  // namespace kv
