#pragma once

#include <roost/base/clock.hpp>
#include <roost/base/site.hpp>

#include <string>
#include <string_view>

namespace roost::inline ROOST_ABI::observe {

// A body that has kept its worker for longer than the soft budget. The runtime's watcher passes it to the function that was
// set with on_overrun(), while the body may still run. An overrun is valid only during that call.
class overrun {
public:
    overrun(std::string_view runtime, unsigned worker_index, std::string_view name, roost::site where, duration ran,
            roost::site continued = {}) noexcept
        : runtime_(runtime), worker_(worker_index), name_(name), where_(where), continued_(continued), ran_(ran) {}
    // Returns the name of the runtime.
    [[nodiscard]] std::string_view runtime() const noexcept { return runtime_; }
    [[nodiscard]] unsigned worker_index() const noexcept { return worker_; }
    // Returns the name of the body. Empty if it has none.
    [[nodiscard]] std::string_view name() const noexcept { return name_; }
    [[nodiscard]] roost::site site() const noexcept { return where_; }
    // Returns the line of the await that the body continued from; unknown if it has just started.
    [[nodiscard]] roost::site continued_at() const noexcept { return continued_; }
    // Returns how long the body has run so far, at least.
    [[nodiscard]] duration ran_for() const noexcept { return ran_; }
    // Returns one line without a line break: "roost: runtime 'main', worker 2: 'parse' (a.cpp:7) has run for 120 ms ...".
    [[nodiscard]] std::string to_string() const;

private:
    std::string_view runtime_;
    unsigned worker_;
    std::string_view name_;
    roost::site where_;
    roost::site continued_;
    duration ran_;
};

using overrun_function = void (*)(const overrun&, void* context) noexcept;

}  // namespace roost::inline ROOST_ABI::observe
