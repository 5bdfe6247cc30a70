#include <roost/service/budgets.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace roost::inline ROOST_ABI::service {

namespace {

constexpr phase parts[] = {phase::lame_duck, phase::stop_intake, phase::drain, phase::cancel, phase::abort, phase::release};

// The default share of a phase, of 25 parts.
constexpr int weight_of(phase p) noexcept {
    switch (p) {
        case phase::stop_intake: return 2;
        case phase::drain: return 15;
        case phase::cancel: return 4;
        case phase::abort: return 1;
        case phase::release: return 3;
        default: return 0;
    }
}

std::string variable_of(std::string_view prefix, phase p) {
    std::string name(prefix);
    name.push_back('_');
    for (const char c : to_string(p)) {
        name.push_back(c == ' ' ? '_' : static_cast<char>(c - ('a' - 'A')));
    }
    return name;
}

std::string read_one(const std::string& name, std::optional<duration>& into) {
    const char* text = std::getenv(name.c_str());
    if (text == nullptr || *text == '\0') {
        return {};
    }
    into = parse_duration(text);
    return into ? std::string() : name + " is '" + text + "', which is not a duration such as 15s, 500ms or 2m";
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) noexcept {
    double amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc() || !(amount >= 0)) {
        return std::nullopt;
    }
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (!unit.empty() && unit.front() == ' ') {
        unit.remove_prefix(1);
    }
    double nanoseconds = 0;
    if (unit.empty() || unit == "s") {
        nanoseconds = 1e9;
    } else if (unit == "ms") {
        nanoseconds = 1e6;
    } else if (unit == "us") {
        nanoseconds = 1e3;
    } else if (unit == "m" || unit == "min") {
        nanoseconds = 60e9;
    } else if (unit == "h") {
        nanoseconds = 3600e9;
    } else {
        return std::nullopt;
    }
    const double total = amount * nanoseconds;
    if (!(total < static_cast<double>(std::numeric_limits<duration::rep>::max()) / 4)) {
        return std::nullopt;
    }
    return duration(std::llround(total));
}

std::string read_environment(budgets& b, std::string_view prefix) {
    std::optional<duration> found;
    if (std::string problem = read_one(std::string(prefix) + "_TOTAL", found); !problem.empty()) {
        return problem;
    }
    if (found) {
        b.total(*found);
    }
    for (const phase p : parts) {
        found.reset();
        if (std::string problem = read_one(variable_of(prefix, p), found); !problem.empty()) {
            return problem;
        }
        if (found) {
            b.set(p, *found);
        }
    }
    return {};
}

schedule_result schedule_result::make(const budgets& b) {
    schedule_result r;
    if (b.total() <= duration(0)) {
        r.problem_ = "the total budget of shutdown is " + format_duration(b.total()) + ", but it has to be positive";
        return r;
    }
    duration named{};
    std::string sum;
    int weights = 0;
    for (const phase p : parts) {
        const auto d = b.get(p);
        if (!d) {
            weights += weight_of(p);
            continue;
        }
        if (*d < duration(0)) {
            r.problem_ = "the budget of phase " + std::string(to_string(p)) + " is negative";
            return r;
        }
        named = *d > duration::max() - named ? duration::max() : named + *d;
        sum += (sum.empty() ? "" : " + ") + std::string(to_string(p)) + " " + format_duration(*d);
    }
    if (named > b.total()) {
        r.problem_ = "the budgets of shutdown (" + sum + " = " + format_duration(named) + ") are more than its total of " +
                     format_duration(b.total());
        return r;
    }
    const duration left = b.total() - named;
    if (left == duration(0) && !b.get(phase::drain)) {
        r.problem_ = "the budgets of shutdown (" + sum + ") use up its total of " + format_duration(b.total()) +
                     " and leave nothing for phase drain";
        return r;
    }
    r.value_.total_ = b.total();
    for (const phase p : parts) {
        const auto d = b.get(p);
        const duration share = weights == 0 ? duration(0) : left / weights * weight_of(p);
        r.value_.parts_[static_cast<std::size_t>(p)] = d ? *d : share;
    }
    return r;
}

std::string schedule::to_string() const {
    std::string text = "total " + format_duration(total_) + ":";
    for (const phase p : parts) {
        text += (p == phase::lame_duck ? " " : ", ") + std::string(service::to_string(p)) + " " + format_duration(of(p));
    }
    return text;
}

}  // namespace roost::inline ROOST_ABI::service
