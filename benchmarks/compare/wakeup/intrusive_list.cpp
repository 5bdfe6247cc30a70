#include "intrusive_list.hpp"
#include "cases.hpp"

WAKEUP_CASES(wakeup::intrusive_list, "intrusive list", "peer")
