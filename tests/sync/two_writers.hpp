#pragma once

// Two threads that each write something and then signal, for models of events: a waiter that takes the signal after both have
// signalled must see both writes.

#include <roost/base/atomic.hpp>

namespace sync_testing {

class two_writers {
public:
    template <class Event>
    void write_first(Event& e) {
        write(first_, e);
    }
    template <class Event>
    void write_second(Event& e) {
        write(second_, e);
    }
    [[nodiscard]] bool have_both_signalled() const { return signalled_.load(roost::seam::mo::relaxed) == 2; }
    [[nodiscard]] bool are_both_seen() const { return first_.get() + second_.get() == 2; }

private:
    template <class Event>
    void write(roost::seam::plain<int>& mine, Event& e) {
        mine.set(1);
        e.set();
        signalled_.fetch_add(1, roost::seam::mo::relaxed);
    }

    roost::seam::plain<int> first_{0};
    roost::seam::plain<int> second_{0};
    roost::seam::atomic<int> signalled_{0};
};

}  // namespace sync_testing
