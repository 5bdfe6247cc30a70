#pragma once

// Former place of <roost/base/failure_sink.hpp>. The next release removes this header.
#include <roost/base/failure_sink.hpp>
