#pragma once

// Refuses a Boost that is too old, with a clearer message than its headers give. use_task needs the cancellation slots and
// composed operations of Boost.Asio 1.81.

#include <boost/version.hpp>

#if BOOST_VERSION < 108100
#error \
    "Roost's Asio layer needs Boost 1.81 or newer: install it (on Debian 12 the package libboost1.81-dev) or put its folder before the older one (-I <folder>)."
#endif
