#include "lockfree_queue.hpp"
#include "cases.hpp"

#include <boost/lockfree/queue.hpp>

namespace {
struct michael_scott : boost::lockfree::queue<wakeup::ticket*> {
    michael_scott() : queue(64) {}
};
} // namespace

WAKEUP_CASES(wakeup::lockfree_queue<michael_scott>, "lock-free queue", "peer")
