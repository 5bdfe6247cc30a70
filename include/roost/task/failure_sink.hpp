#pragma once

// The sink is in base because callbacks of the tree report to it too.
#include <roost/base/failure_sink.hpp>
