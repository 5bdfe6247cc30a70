#pragma once

// The sink is older than tasks: callbacks of the tree report to it too.
#include <roost/base/failure_sink.hpp>
