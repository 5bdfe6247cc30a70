// Orders N1 to N4: exec/detail/name_table.hpp.

#include <roost/exec/detail/name_table.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace roost::inline ROOST_ABI::detail {

// A name in words, its end filled with zeros, and its hash.
class name_table::packed {
public:
    explicit packed(std::string_view name) noexcept : length_(static_cast<std::uint32_t>(std::min(name.size(), longest))) {
        const std::size_t used = size();
        words_[used == 0 ? 0 : used - 1] = 0;
        std::memcpy(words_, name.data(), length_);
        std::uint64_t mixed = length_;
        for (std::size_t i = 0; i < used; ++i) {
            mixed = (mixed ^ words_[i]) * 0x9e3779b97f4a7c15U;
            mixed ^= mixed >> 29U;
        }
        hash_ = static_cast<std::uint32_t>(mixed) | 1U;  // never 0, which is an empty entry
    }
    [[nodiscard]] std::size_t size() const noexcept { return (length_ + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); }
    [[nodiscard]] std::uint32_t length() const noexcept { return length_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept { return words_[i]; }

private:
    std::uint32_t length_;
    std::uint32_t hash_;
    std::uint64_t words_[words];
};

bool name_table::is_same(const entry& e, const packed& name) noexcept {
    if (e.length.get() != name.length()) {
        return false;
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (e.text[i].get() != name.word(i)) {
            return false;
        }
    }
    return true;
}

// Returns the entry's position plus one, or 0. An empty entry ends the search: names are entered in the order of their probes.
std::uint32_t name_table::find(const packed& name, bool& is_full) const noexcept {
    is_full = false;
    for (std::size_t i = 0; i < probes; ++i) {
        const std::size_t at = ((name.hash() >> 1U) + i) & mask_;
        const std::uint32_t seen = entries_[at].hash.load(mo::acquire);  // N1
        if (seen == 0) {
            return 0;
        }
        if (seen == name.hash() && is_same(entries_[at], name)) {
            return static_cast<std::uint32_t>(at + 1);
        }
    }
    is_full = true;
    return 0;
}

std::uint32_t name_table::enter(const packed& name) noexcept {
    const std::lock_guard guard(lock_);
    bool is_full = false;
    if (const std::uint32_t known = find(name, is_full); known != 0 || is_full) {
        return known;
    }
    std::size_t at = (name.hash() >> 1U) & mask_;
    while (entries_[at].hash.load(mo::relaxed) != 0) {  // N4
        at = (at + 1) & mask_;
    }
    entry& e = entries_[at];
    e.length.set(name.length());
    for (std::size_t i = 0; i < name.size(); ++i) {
        e.text[i].set(name.word(i));
    }
    e.hash.store(name.hash(), mo::release);  // N2
    return static_cast<std::uint32_t>(at + 1);
}

std::uint32_t name_table::number_of(std::string_view name) noexcept {
    const packed wanted(name);
    bool is_full = false;
    std::uint32_t number = find(wanted, is_full);
    if (number == 0 && !is_full) {
        number = enter(wanted);
    }
    if (number == 0) {
        overflowed_.fetch_add(1, mo::relaxed);  // N3
    }
    return number;
}

std::size_t name_table::text_of(std::uint32_t number, char* to) const noexcept {
    if (number == other || number > mask_ + 1) {
        return 0;
    }
    const entry& e = entries_[number - 1];
    if (e.hash.load(mo::acquire) == 0) {  // N1
        return 0;
    }
    std::size_t left = e.length.get();
    for (std::size_t i = 0; left > 0; ++i) {
        const std::uint64_t word = e.text[i].get();
        const std::size_t now = std::min(left, sizeof word);
        std::memcpy(to + i * sizeof word, &word, now);
        left -= now;
    }
    return e.length.get();
}

}  // namespace roost::inline ROOST_ABI::detail
