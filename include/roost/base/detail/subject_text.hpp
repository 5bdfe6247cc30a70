#pragma once

// How every text of Roost names an object.

#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Appends text on one line: control characters, such as line breaks in a name, become spaces.
inline void append_on_one_line(std::string& out, std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
    }
}

// Appends "job 'request' (server.cpp:88)", on one line. Leaves out an empty name and an unknown site.
inline void append_subject(std::string& out, std::string_view kind, std::string_view name, site made_at) {
    out.append(kind);
    if (!name.empty()) {
        out.append(" '");
        append_on_one_line(out, name);
        out.append("'");
    }
    if (made_at.is_known()) {
        out.append(" (").append(made_at.to_string()).append(")");
    }
}

}  // namespace roost::inline ROOST_ABI::detail
