#include <roost/base/site.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI {

std::string site::to_string() const {
    if (!is_known()) {
        return "unknown site";
    }
    std::string_view shown = file();
    if (shown.starts_with('/')) {
        shown.remove_prefix(shown.rfind('/') + 1);
    }
    return std::string(shown) + ":" + std::to_string(line());
}

bool operator==(const site& a, const site& b) noexcept {
    return a.line() == b.line() && a.where_.column() == b.where_.column() && std::strcmp(a.file(), b.file()) == 0;
}

}  // namespace roost::inline ROOST_ABI
