#pragma once

// What the service says to a request. Knows nothing of connections.

#include "requests.hpp"
#include "shop.hpp"

#include <roost/task/task.hpp>

namespace demo {

// The request's views must stay valid until the answer is there.
[[nodiscard]] roost::task<response> answer_to(shop& s, request from);

}  // namespace demo
