#pragma once

// Mistakes of the calling program after which it can go on. Each is reported to the failure sink as an error of type `misuse`.
// Its text names what is wrong and what to write instead. Mistakes after which it cannot go on end it: base/assert.hpp.

#include <roost/base/error.hpp>

#include <string>

namespace roost::inline ROOST_ABI {

class misuse : public error {
public:
    explicit misuse(const std::string& what) : error(errc::misused, what) {}
};

}  // namespace roost::inline ROOST_ABI
