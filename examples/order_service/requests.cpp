#include "requests.hpp"

#include <algorithm>
#include <charconv>

namespace demo {

place find_place(const request& r) noexcept {
    if (r.target == "/orders") {
        return r.method == "POST" ? place::orders : place::not_a_post;
    }
    if (r.target == "/healthz") {
        return place::healthz;
    }
    if (r.target == "/readyz") {
        return place::readyz;
    }
    if (r.target == "/metrics") {
        return place::metrics;
    }
    return r.target == "/tree" ? place::tree : place::unknown;
}

bool read_order(std::string_view body, std::string& item, std::int64_t& quantity) {
    if (body.ends_with('\n')) {
        body.remove_suffix(1);
    }
    const std::size_t space = body.find(' ');
    if (space == 0 || space == std::string_view::npos || space > item_limit) {
        return false;
    }
    const std::string_view name = body.substr(0, space);
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; })) {
        return false;
    }
    const std::string_view digits = body.substr(space + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), quantity);
    item = name;
    return error == std::errc() && quantity > 0 && end == digits.data() + digits.size();
}

}  // namespace demo
