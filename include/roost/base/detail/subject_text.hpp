#pragma once

// How every text of Roost names an object.

#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// Appends "job 'request' (server.cpp:88)". Leaves out an empty name and an unknown site.
inline void append_subject(std::string& out, std::string_view kind, std::string_view name, site made_at) {
    out.append(kind);
    if (!name.empty()) {
        out.append(" '").append(name).append("'");
    }
    if (made_at.is_known()) {
        out.append(" (").append(made_at.to_string()).append(")");
    }
}

}  // namespace roost::inline ROOST_ABI::detail
