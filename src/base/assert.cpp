#include <roost/base/assert.hpp>

#include <roost/base/detail/what_runs.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/site.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace roost::inline ROOST_ABI {

using namespace observe;

namespace {

panic_handler installed_handler = nullptr;
detail::running_function find_running = nullptr;

[[noreturn]] void end_with(std::string sentence) noexcept {
    if (installed_handler != nullptr) {
        installed_handler(sentence.c_str());
    }
    sentence.push_back('\n');
    detail::write_stderr(sentence, std::chrono::seconds(1));
    std::abort();
}

}  // namespace

panic_handler observe::set_panic_handler(panic_handler handler) noexcept {
    return std::exchange(installed_handler, handler);
}

detail::running_function detail::set_running_function(running_function find) noexcept {
    return std::exchange(find_running, find);
}

std::string detail::in_what_runs(std::string_view about) {
    site where;
    site continued;
    const std::string_view name = find_running == nullptr ? std::string_view() : find_running(where, continued);
    if (name.empty() || name == about) {
        return {};
    }
    std::string out = " [in '" + std::string(name) + "'";
    if (where.is_known()) {
        out.append(" (").append(where.to_string()).append(")");
    }
    if (continued.is_known()) {
        out.append(", after its await at ").append(continued.to_string());
    }
    return out + "]";
}

void detail::panic(std::string_view object, std::string_view name, site made_at, std::string_view rule) noexcept {
    std::string sentence = "roost: ";
    sentence.append(object);
    if (!name.empty()) {
        sentence.append(" '").append(name).append("'");
    }
    if (made_at.is_known()) {
        sentence.append(" (made at ").append(made_at.to_string()).append(")");
    }
    sentence.append(": ").append(rule);
    if (installed_handler == nullptr) {
        sentence.append(detail::in_what_runs(name));
    }
    end_with(std::move(sentence));
}

void detail::panic(std::string_view rule, site at) noexcept {
    std::string sentence = "roost: ";
    sentence.append(rule);
    if (at.is_known()) {
        sentence.append(" [").append(at.to_string()).append("]");
    }
    if (installed_handler == nullptr) {
        sentence.append(detail::in_what_runs({}));
    }
    end_with(std::move(sentence));
}

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
