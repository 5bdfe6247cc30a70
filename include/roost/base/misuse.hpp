#pragma once

// Mistakes of the calling program after which it can continue. Each is reported to the failure sink as an error of type
// `misuse`. Its text names what is wrong and what to write instead. Other mistakes end the program: base/assert.hpp.

#include <roost/base/error.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

class misuse : public error {
public:
    explicit misuse(const std::string& what) : error(errc::misused, what) {}
};

}  // namespace roost::inline ROOST_ABI
