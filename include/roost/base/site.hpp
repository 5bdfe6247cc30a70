#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <source_location>
#include <string>

namespace roost::inline ROOST_ABI {

// Where in the user's program something was created. One pointer wide; costs nothing until it is printed.
class site {
public:
    constexpr site() noexcept = default;
    constexpr explicit(false) site(std::source_location where) noexcept : where_(where) {}

    [[nodiscard]] static constexpr site here(std::source_location where = std::source_location::current()) noexcept {
        return site(where);
    }

    [[nodiscard]] constexpr bool is_known() const noexcept { return where_.line() != 0; }
    [[nodiscard]] constexpr const char* file() const noexcept { return where_.file_name(); }
    [[nodiscard]] constexpr std::uint32_t line() const noexcept { return where_.line(); }
    [[nodiscard]] constexpr const char* function() const noexcept { return where_.function_name(); }

    // Returns "server.cpp:42", or "unknown site". Cuts an absolute path to the file's name: operators cannot use the
    // directories of the build machine. Keeps a relative path (-ffile-prefix-map). file() returns the whole path.
    [[nodiscard]] std::string to_string() const;

    // Returns true if both are the same place in the source, also if different translation units recorded them.
    friend bool operator==(const site& a, const site& b) noexcept;

private:
    std::source_location where_{};
};

}  // namespace roost::inline ROOST_ABI
