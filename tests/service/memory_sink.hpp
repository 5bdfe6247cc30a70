#pragma once

// What a service logged, for tests that run it in this process.

#include <roost/base/atomic.hpp>
#include <roost/service/service_options.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace roost::service {

class memory_sink {
public:
    // Without signals and with short reports.
    [[nodiscard]] options quiet() {
        return options().signals(false).sink(&memory_sink::take, this).report_every(std::chrono::milliseconds(10));
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        const std::lock_guard hold(lock_);
        return lines_;
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& line : lines()) {
            all += line + "\n";
        }
        return all;
    }
    [[nodiscard]] bool has(const std::string& what) const { return text().find(what) != std::string::npos; }
    // Those lines that begin so, without the beginning.
    [[nodiscard]] std::vector<std::string> after(const std::string& beginning) const {
        std::vector<std::string> found;
        for (const std::string& line : lines()) {
            if (line.rfind(beginning, 0) == 0) {
                found.push_back(line.substr(beginning.size()));
            }
        }
        return found;
    }

private:
    static void take(const log_line& line, void* context) noexcept {
        auto& me = *static_cast<memory_sink*>(context);
        const std::lock_guard hold(me.lock_);
        me.lines_.emplace_back(line.text());
    }

    mutable seam::os_mutex lock_;
    std::vector<std::string> lines_;
};

}  // namespace roost::service
