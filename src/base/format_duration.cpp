#include <roost/base/format_duration.hpp>

#include <cmath>
#include <cstdio>

namespace roost::inline ROOST_ABI {

namespace {

std::string three_digits(double amount, const char* unit) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", amount < 10 ? 2 : amount < 100 ? 1 : 0, amount);
    std::string out(text);
    if (out.find('.') != std::string::npos) {
        out.resize(out.find_last_not_of('0') + 1);
        if (out.back() == '.') {
            out.pop_back();
        }
    }
    return out + unit;
}

}  // namespace

std::string format_duration(duration d) {
    const double seconds = std::abs(std::chrono::duration<double>(d).count());
    const std::string sign = d < duration(0) ? "-" : "";
    if (const double ms = std::round(seconds * 1e3); ms < 1000) {
        return (ms == 0 ? std::string() : sign) + std::to_string(static_cast<int>(ms)) + " ms";
    }
    if (seconds < 600) {
        return sign + three_digits(seconds, " s");
    }
    return sign + (seconds < 36'000 ? three_digits(seconds / 60, " min") : three_digits(seconds / 3600, " h"));
}

}  // namespace roost::inline ROOST_ABI
