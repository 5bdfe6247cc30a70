#pragma once

#include <roost/observe/metrics.hpp>

namespace demo {

// Counts what exists at the moment.
class counted {
public:
    explicit counted(const roost::metrics::gauge& n) noexcept : n_(n) { n_.add(1); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { n_.add(-1); }

private:
    roost::metrics::gauge n_;
};

}  // namespace demo
