#pragma once

// Copies of names, each with a small number, in a table of fixed size. A search takes no lock; entering a name takes one. No
// name is ever removed. A name that does not fit has number 0, `other`, and is counted.
//
// fields   entry text, length   written under the lock before N2, constant afterwards
// I1       an entry's hash goes from 0 to the hash of its text, once
//
// id  operation              order    pairs  carries                        fails in
// N1  find: load hash        acquire  N2     in: the entry's text           name_table_model: found_is_whole
// N2  enter: store hash      release  N1     out: the entry's text          name_table_model: found_is_whole
// N3  overflowed: add, load  relaxed  -      nothing but the number         (floor)
// N4  enter: load hash       relaxed  -      stored under the same lock     (floor)

#include <roost/base/atomic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

class name_table {
public:
    static constexpr std::size_t longest = 120;  // longer names are cut
    static constexpr std::uint32_t other = 0;

    // Allocates; throws std::bad_alloc. Requires that `size` is a power of two.
    explicit name_table(std::size_t size) : entries_(new entry[size]), mask_(size - 1) {}
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;

    // Returns the number of the name. Enters a new name, under the lock. Returns `other` if there is no room. Thread-safe.
    [[nodiscard]] std::uint32_t number_of(std::string_view name) noexcept;
    // Copies the text of a number to `to`, and returns its length; 0 if no name has that number. Requires that `to` has room
    // for `longest` bytes. Thread-safe, async-signal-safe.
    [[nodiscard]] std::size_t text_of(std::uint32_t number, char* to) const noexcept;
    // Returns how many times a name did not fit. Thread-safe.
    [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_.load(mo::relaxed); }  // N3

private:
    static constexpr std::size_t words = longest / sizeof(std::uint64_t);
    static constexpr std::size_t probes = 8;
    class entry {
    public:
        atomic<std::uint32_t> hash{0};
        plain<std::uint32_t> length{0};
        plain<std::uint64_t> text[words];
    };
    class packed;
    [[nodiscard]] static bool is_same(const entry& e, const packed& name) noexcept;
    [[nodiscard]] std::uint32_t find(const packed& name, bool& is_full) const noexcept;
    [[nodiscard]] std::uint32_t enter(const packed& name) noexcept;

    std::unique_ptr<entry[]> entries_;
    std::size_t mask_;
    small_mutex lock_;
    atomic<std::uint64_t> overflowed_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
