#include "mutex_deque.hpp"
#include "cases.hpp"

WAKEUP_CASES(wakeup::mutex_deque, "mutex + deque", "peer")
