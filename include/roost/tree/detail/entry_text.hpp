#pragma once

// The text of one node. Every rendering of a tree is made of these pieces:
//
//   job 'flush' (server.cpp:61), cancelling (requested), age 2 s, at db.cpp:41 <- server.cpp:97, waits on mutex, deadline in 1 s
//   head                                            age      tail                                          deadline

#include <roost/base/clock.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

namespace observe {
struct node_description;
}

namespace detail {

// A name, reason or label in a text: at most 120 bytes of it.
[[nodiscard]] constexpr std::string_view shown(std::string_view text) noexcept { return text.substr(0, 120); }

struct entry_text {
    std::string head;  // kind, name, site, state and its reason
    std::string tail;  // what the node waits on
    std::string held_by;  // who holds what it waits on; no part of what siblings are compared by
    duration age = duration(-1);  // negative: unknown
    duration left = duration::max();  // until the deadline; max(): there is none
};

// Appends ", at db.cpp:41 <- server.cpp:97": the await that a body is suspended at, and those of its callers. Nothing if it is
// not known.
void append_stack(std::string& out, const observe::node_description& d);

// Copies what the visit knows about a node. Throws std::bad_alloc.
[[nodiscard]] entry_text describe_entry(const observe::node_description& d);

// Appends ", age 3 ms to 812 ms", or ", age 3 ms" if both read the same; nothing if `oldest` is negative.
void append_age(std::string& out, duration youngest, duration oldest);
// Appends ", deadline in 188 ms" or ", deadline passed 2 s ago"; nothing if `left` is max().
void append_deadline(std::string& out, duration left);
// Appends " (held 3 s by job 'transfer' (bank.cpp:42))"; nothing if the text is empty.
void append_held_by(std::string& out, std::string_view held_by);
// Appends all pieces.
void append_entry(std::string& out, const entry_text& e);

}  // namespace detail

}  // namespace roost::inline ROOST_ABI
