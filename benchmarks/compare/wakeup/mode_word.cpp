#include "mode_word.hpp"
#include "cases.hpp"

WAKEUP_CASES(wakeup::mode_word, "slot + overflow", "peer")
