#pragma once

#include <roost/tree/node.hpp>

namespace roost::inline ROOST_ABI {

// A deadline of a node's own, for as long as this object lives. deadline() of the node and of everything below becomes the
// least of all deadlines on the way up to a shield; asking is one load, changing visits the subtree as far as it matters.
// It is a promise about time, not a timer: whoever sets it arms one. That an ancestor's comes earlier is no reason to do without:
// something in between may hold the ancestor's cancel up, as an ignore guard does.
class own_deadline : private detail::member {
public:
    own_deadline(node& of, time_point at) noexcept;
    own_deadline(const own_deadline&) = delete;
    own_deadline& operator=(const own_deadline&) = delete;
    ~own_deadline();

    void change(time_point at) noexcept;
    [[nodiscard]] time_point at() const noexcept { return time_point(duration(at_.load(mo::relaxed))); }  // D1

private:
    friend struct detail_deadline_access;
    node_ref<> of_;
    atomic<std::int64_t> at_;
};

}  // namespace roost::inline ROOST_ABI
