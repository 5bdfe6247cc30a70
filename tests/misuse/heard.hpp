#pragma once

// What the failure sink was told while this lives.

#include <roost/base/failure_sink.hpp>

#include <string>

namespace misuse_tests {

class heard {
public:
    heard() : before_(roost::set_failure_sink(&listen)) { text().clear(); }
    heard(const heard&) = delete;
    heard& operator=(const heard&) = delete;
    ~heard() { roost::set_failure_sink(before_); }

    [[nodiscard]] static std::string& text() {
        static std::string all;
        return all;
    }
    [[nodiscard]] bool has(const std::string& part) const { return text().find(part) != std::string::npos; }
    [[nodiscard]] bool is_silent() const { return text().empty(); }

private:
    static void listen(std::string_view what, std::string_view name, roost::site, std::exception_ptr error) noexcept {
        text() += std::string(what) + " '" + std::string(name) + "': " + roost::describe(error) + "\n";
    }
    roost::failure_sink before_;
};

}  // namespace misuse_tests
