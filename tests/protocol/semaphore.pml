/* A semaphore of one permit: two takers that wait, one of them may be cancelled, and a closer.
 *
 * Protocol: the permit is handed to the oldest waiter under the lock; a cancel that finds its waiter already
 * delivered passes the permit on; close refuses newcomers and ends everybody who waits.
 *
 * Planted SWALLOW: a waiter that was delivered and then dropped keeps the permit.
 * Planted CLOSE_MISSES: the look at `closed` happens before the lock is taken.
 */
#define TAKERS 3
mtype = { outside, waiting, delivered, cancelled, refused };
mtype state[TAKERS] = outside;
byte free_permits = 1;
byte held;          /* permits in users' hands */
bool locked, closed;
byte line[TAKERS];  /* the queue, oldest first */
byte in_line;
byte finished;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* Under the lock: the permit goes to the oldest who waits, else back. */
inline give() {
    d_step {
        if
        :: in_line > 0 ->
            state[line[0]] = delivered;
            line[0] = line[1]; line[1] = line[2]; in_line--
        :: else -> free_permits++
        fi
    }
}

inline leave_line(me) {
    d_step {
        if
        :: in_line > 0 && line[0] == me -> line[0] = line[1]; line[1] = line[2]; in_line--
        :: in_line > 1 && line[0] != me && line[1] == me -> line[1] = line[2]; in_line--
        :: in_line > 2 && line[0] != me && line[1] != me -> in_line--
        :: else
        fi
    }
}

proctype taker(byte me; bool may_drop) {
    bool has, seen_closed;
#ifdef CLOSE_MISSES
    seen_closed = closed;
    lock();
#else
    lock();
    seen_closed = closed;
#endif
    if
    :: seen_closed -> state[me] = refused
    :: !seen_closed && free_permits > 0 && in_line == 0 -> free_permits--; state[me] = delivered
    :: else ->
        assert(!closed);  /* nobody joins a line that will not be served */
        state[me] = waiting; line[in_line] = me; in_line++
    fi;
    unlock();
    if
    :: state[me] != waiting
    :: may_drop ->  /* cancelled at any moment */
        lock();
        if
        :: state[me] == waiting -> leave_line(me); state[me] = cancelled
        :: state[me] == delivered ->
            state[me] = cancelled;
#ifndef SWALLOW
            give()
#endif
        :: else
        fi;
        unlock()
    fi;
    if
    :: state[me] == delivered ->
        held++;
        assert(held <= 1);
        held--;
        lock();
        give();
        unlock()
    :: else
    fi;
    finished++
}

proctype closer() {
    byte i;
    lock();
    closed = true;
    do
    :: in_line > 0 -> state[line[0]] = refused; line[0] = line[1]; line[1] = line[2]; in_line--
    :: else -> break
    od;
    unlock()
}

init {
    atomic { run taker(0, false); run taker(1, true); run taker(2, false); run closer() }
    atomic {
        finished == TAKERS && !locked;
        assert(free_permits == 1 && in_line == 0)
    }
}

ltl everyone_ends { <> (finished == TAKERS) }
