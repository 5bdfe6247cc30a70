#include <roost/admin/http_listener.hpp>

#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI::admin {

http_routes& http_routes::get(std::string path, http_handler handler, runs how) {
    routes_[std::move(path)] = route{std::move(handler), how};
    return *this;
}

const http_routes::route* http_routes::find(const std::string& path) const noexcept {
    if (const auto exact = routes_.find(path); exact != routes_.end() && !path.ends_with('*')) {
        return &exact->second;
    }
    const route* best = nullptr;
    std::size_t longest = 0;
    for (const auto& [pattern, candidate] : routes_) {
        const bool is_prefix =
            pattern.ends_with('*') && path.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
        if (is_prefix && pattern.size() > longest) {
            best = &candidate;
            longest = pattern.size();
        }
    }
    return best;
}

}  // namespace roost::inline ROOST_ABI::admin
