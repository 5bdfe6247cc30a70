#pragma once

// The tree of a live program as text.
//
//   std::fputs(observe::dump(root).c_str(), stderr);
//
//   owned scope 'root' (main.cpp:31), running, 99 children
//     job 'accept' (main.cpp:40), active, age 12.4 s, at main.cpp:44, waits on channel 'connections'
//     97 x job 'request' (server.cpp:88), active, age 3 ms to 812 ms, 1 child
//       region 'deadline' (server.cpp:92), running, at bank.cpp:17 <- server.cpp:92, waits on mutex 'accounts', deadline in 188 ms
//     job 'flush' (server.cpp:61), cancelling (requested: disk full (server.cpp:70, at 'flush')), age 2 s, 1 child
//
// Thread-safe. The program runs on during the call, so each line is true by itself, but not all lines together. Siblings
// whose subtrees have equal texts share one line. The text has a size limit. When it is reached, the last lines state what
// was left out.

#include <roost/task/owned_scope.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace roost::inline ROOST_ABI::observe {

class dump_options {
public:
    constexpr dump_options() noexcept = default;
    // Visits at most n nodes.
    [[nodiscard]] constexpr dump_options nodes(std::size_t n) const noexcept {
        dump_options changed = *this;
        changed.nodes_ = n;
        return changed;
    }
    // Limits the text to n bytes.
    [[nodiscard]] constexpr dump_options bytes(std::size_t n) const noexcept {
        dump_options changed = *this;
        changed.bytes_ = n;
        return changed;
    }
    // Counts nodes below depth n instead of listing them. At most 256.
    [[nodiscard]] constexpr dump_options depth(std::uint32_t n) const noexcept {
        dump_options changed = *this;
        changed.depth_ = n;
        return changed;
    }
    // Writes one line per node.
    [[nodiscard]] constexpr dump_options ungrouped() const noexcept {
        dump_options changed = *this;
        changed.group_ = false;
        return changed;
    }

    [[nodiscard]] constexpr std::size_t nodes() const noexcept { return nodes_; }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] constexpr std::uint32_t depth() const noexcept { return depth_ < 256 ? depth_ : 256; }
    [[nodiscard]] constexpr bool group() const noexcept { return group_; }

private:
    std::size_t nodes_ = 20'000;
    std::size_t bytes_ = 64 * 1024;
    std::uint32_t depth_ = 64;
    bool group_ = true;
};

// Returns the tree below `root` as text. Requires that the caller keeps `root` alive. Returns "no memory\n" if memory runs
// out.
[[nodiscard]] std::string dump(const node& root, dump_options how = {}) noexcept;
[[nodiscard]] inline std::string dump(const scope& root, dump_options how = {}) noexcept {
    return dump(root.tree_node(), how);
}
[[nodiscard]] inline std::string dump(const job& j, dump_options how = {}) noexcept {
    return j ? dump(j.tree_node(), how) : std::string();
}
[[nodiscard]] inline std::string dump(const token& t, dump_options how = {}) noexcept {
    return t ? dump(*detail::tree_access::target_of(t), how) : std::string();
}

}  // namespace roost::inline ROOST_ABI::observe
