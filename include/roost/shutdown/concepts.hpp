#pragma once

#include <roost/base/config.hpp>
#include <roost/exec/detail/awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>

// Concepts for what guarded<T> and interrupt<T> forward. A type qualifies by having the functions. Each function returns its
// result directly (it blocks, or never waits), or an awaitable or task for the result.

namespace roost::inline ROOST_ABI::ext {

// The number of remaining elements of a stream or range: at least lower, at most upper. An empty upper is unknown.
struct size_hint {
    std::size_t lower = 0;
    std::optional<std::size_t> upper;
    friend bool operator==(const size_hint&, const size_hint&) = default;
};

// next() returns std::optional<element> or a pointer to an element. Empty or null means the end.
template <class T>
concept stream = requires(T& t) { t.next(); };
// read_some(buffer) returns the number of bytes read. Zero means the end.
template <class T>
concept byte_reader = requires(T& t, std::span<std::byte> buffer) { t.read_some(buffer); };
// fill_buffer() returns the buffered bytes, and reads if there are none. An empty span means the end. consume(n) removes the
// first n buffered bytes.
template <class T>
concept buffered_reader = requires(T& t, std::size_t n) {
    t.fill_buffer();
    t.consume(n);
};
// write_some(bytes) returns the number of bytes accepted.
template <class T>
concept byte_writer = requires(T& t, std::span<const std::byte> bytes) { t.write_some(bytes); };

}  // namespace roost::inline ROOST_ABI::ext
