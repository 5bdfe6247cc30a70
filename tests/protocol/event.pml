/* An event with two waiters, one setter and one canceller of the first waiter.
 *
 * Protocol (sync/waiter_queue): a waiter raises the gate, then looks at the state, then queues, all before the
 * lock is left; the setter changes the state, then looks at the gate, and takes the queue only if it is raised.
 * Whoever claims a waiter (wake or cancel) resumes it, once.
 *
 * Planted CHECK_FIRST: looks at the state before the gate is raised (a lost wake).
 * Planted CLAIM_BY_STORE: claims with a load and a store (a double resume).
 */
#define WAITERS 2
mtype = { idle, waiting, delivered, cancelled };
bool is_set, locked;
byte gate;
mtype claim[WAITERS] = idle;
bool queued[WAITERS];
byte resumed[WAITERS];
bool through[WAITERS];

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline claim_as(who, how, won) {
#ifdef CLAIM_BY_STORE
    won = (claim[who] == waiting);
    if :: won -> claim[who] = how :: else fi
#else
    atomic { won = (claim[who] == waiting); if :: won -> claim[who] = how :: else fi }
#endif
}

proctype waiter(byte me) {
    bool ready;
#ifdef CHECK_FIRST
    ready = is_set;
    gate++;
#else
    gate++;
    ready = is_set;
#endif
    if
    :: ready -> gate--; through[me] = true
    :: else ->
        lock();
        claim[me] = waiting;
        queued[me] = true;
        ready = is_set;
#ifdef CHECK_FIRST
        ready = false;  /* the early look is all there is */
#endif
        if
        :: ready && claim[me] == waiting -> queued[me] = false; claim[me] = delivered; resumed[me]++; gate--
        :: else
        fi;
        unlock();
        resumed[me] > 0;
        through[me] = true
    fi
}

proctype setter() {
    byte i;
    bool won;
    is_set = true;
    if
    :: gate == 0
    :: else ->
        lock();
        i = 0;
        do
        :: i == WAITERS -> break
        :: else ->
            if
            :: queued[i] ->
                claim_as(i, delivered, won);
                if :: won -> queued[i] = false; gate--; resumed[i]++ :: else fi
            :: else
            fi;
            i++
        od;
        unlock()
    fi
}

proctype canceller() {
    bool won;
#ifndef CLAIM_BY_STORE
    lock();
#endif
    if
    :: queued[0] ->
        claim_as(0, cancelled, won);
        if :: won -> queued[0] = false; gate--; resumed[0]++ :: else fi
    :: else
    fi;
#ifndef CLAIM_BY_STORE
    unlock()
#endif
}

init { atomic { run waiter(0); run waiter(1); run setter(); run canceller() } }

ltl once { [] (resumed[0] <= 1 && resumed[1] <= 1) }
ltl everyone_comes_through { <> (through[0] && through[1]) }
