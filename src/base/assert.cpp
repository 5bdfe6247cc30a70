#include <roost/base/assert.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace roost::inline ROOST_ABI {

namespace {

panic_handler installed_handler = nullptr;

[[noreturn]] void end_with(const std::string& sentence) noexcept {
    if (installed_handler != nullptr) {
        installed_handler(sentence.c_str());
    }
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::fflush(stderr);
    std::abort();
}

}  // namespace

panic_handler set_panic_handler(panic_handler handler) noexcept {
    panic_handler previous = installed_handler;
    installed_handler = handler;
    return previous;
}

void panic(std::string_view object, std::string_view name, site made_at, std::string_view rule) noexcept {
    std::string sentence = "roost: ";
    sentence.append(object);
    if (!name.empty()) {
        sentence.append(" '").append(name).append("'");
    }
    if (made_at.is_known()) {
        sentence.append(" (made at ").append(made_at.to_string()).append(")");
    }
    sentence.append(": ").append(rule);
    end_with(sentence);
}

void panic(std::string_view rule, site at) noexcept {
    std::string sentence = "roost: ";
    sentence.append(rule);
    if (at.is_known()) {
        sentence.append(" [").append(at.to_string()).append("]");
    }
    end_with(sentence);
}

}  // namespace roost::inline ROOST_ABI
