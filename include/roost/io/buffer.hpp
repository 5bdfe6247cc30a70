#pragma once

// Where an operation reads into, and what it writes. Both refer to memory of the caller, which must outlive the operation.
// Made from anything contiguous whose elements are one byte: a std::string, std::array<char, N>, std::span<std::byte>.

#include <roost/base/config.hpp>

#include <cstddef>
#include <ranges>
#include <type_traits>

namespace roost::inline ROOST_ABI::io {

namespace detail {
template <class R>
concept byte_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && sizeof(std::ranges::range_value_t<R>) == 1 &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
}

class mutable_buffer {
public:
    constexpr mutable_buffer() noexcept = default;
    mutable_buffer(void* data, std::size_t size) noexcept : data_(static_cast<char*>(data)), size_(size) {}
    template <class R>
        requires detail::byte_range<R&> && (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R&>>>)
    explicit(false) mutable_buffer(R&& range) noexcept
        : data_(reinterpret_cast<char*>(std::ranges::data(range))), size_(std::ranges::size(range)) {}

    [[nodiscard]] char* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // Returns the part after the first `count` bytes. Requires count <= size().
    [[nodiscard]] mutable_buffer after(std::size_t count) const noexcept { return {data_ + count, size_ - count}; }

private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

class const_buffer {
public:
    constexpr const_buffer() noexcept = default;
    const_buffer(const void* data, std::size_t size) noexcept : data_(static_cast<const char*>(data)), size_(size) {}
    template <class R>
        requires detail::byte_range<const R&> && (!std::is_array_v<R>)
    explicit(false) const_buffer(const R& range) noexcept
        : data_(reinterpret_cast<const char*>(std::ranges::data(range))), size_(std::ranges::size(range)) {}
    // A string literal, without its zero byte. Any array of char is taken for one: its last element is left out. For an array
    // with other contents, pass the address and the size.
    template <std::size_t N>
    explicit(false) const_buffer(const char (&text)[N]) noexcept : data_(text), size_(N - 1) {}

    [[nodiscard]] const char* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace roost::inline ROOST_ABI::io
