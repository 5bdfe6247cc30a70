/* A pool of capacity one with two stripes' worth of behaviour reduced to one: two users, a creation that may fail,
 * a resource that may be discarded, a user that may be cancelled, and a closer.
 *
 * Protocol (pool): capacity = free + idle + out + creating, always. What comes free (a resource or a creation
 * permit) goes to the oldest waiter, else back. A creation belongs to the pool, so a cancelled user does not end it.
 *
 * Planted LOSE_PERMIT: a failed creation forgets its permit.
 * Planted STRAND: a discarded resource gives its permit back without looking for a waiter.
 * Also WITH_CLOSE: a closer instead of a cancelled first user.
 */
#define USERS 2
#define CAPACITY 1
mtype = { out_of_it, waiting, has_resource, may_create, got_error, cancelled, refused };
mtype user[USERS] = out_of_it;
byte free_ = CAPACITY, idle, out, creating;
bool locked, closed;
byte line[USERS], in_line;
byte finished;

#define balanced (free_ + idle + out + creating == CAPACITY)

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { assert(balanced); locked = false }
inline pop_line() { line[0] = line[1]; in_line-- }

/* Under the lock: an unused creation permit. */
inline permit_back() {
    d_step {
        if
        :: in_line > 0 && !closed -> user[line[0]] = may_create; pop_line(); creating++
        :: else -> free_++
        fi
    }
}
inline resource_back() {
    d_step {
        if
        :: closed -> free_++  /* destroyed */
        :: in_line > 0 && !closed -> user[line[0]] = has_resource; pop_line(); out++
        :: else -> idle++
        fi
    }
}

proctype visitor(byte me; bool may_cancel) {
    lock();
    if
    :: closed -> user[me] = refused
    :: !closed && idle > 0 && in_line == 0 -> idle--; out++; user[me] = has_resource
    :: !closed && idle == 0 && free_ > 0 && in_line == 0 -> free_--; creating++; user[me] = may_create
    :: else -> user[me] = waiting; line[in_line] = me; in_line++
    fi;
    unlock();
    if
    :: user[me] != waiting
    :: may_cancel ->
        lock();
        if
        :: user[me] == waiting ->
            d_step { if :: line[0] == me -> pop_line() :: else -> in_line-- fi };
            user[me] = cancelled
        :: user[me] == has_resource -> user[me] = cancelled; out--; resource_back()
        :: user[me] == may_create -> user[me] = cancelled; creating--; permit_back()
        :: else
        fi;
        unlock()
    fi;
    if
    :: user[me] == may_create ->  /* the creation runs outside the lock */
        if
        :: true -> lock(); creating--; out++; user[me] = has_resource; unlock()
        :: true ->
            lock();
            creating--;
            user[me] = got_error;
#ifndef LOSE_PERMIT
            permit_back();
#endif
            unlock()
        fi
    :: else
    fi;
    if
    :: user[me] == has_resource ->
        assert(out <= CAPACITY);
        lock();
        out--;
        if
        :: true -> resource_back()
        :: true ->  /* discarded */
#ifdef STRAND
            free_++
#else
            permit_back()
#endif
        fi;
        unlock()
    :: else
    fi;
    finished++
}

proctype closer() {
    lock();
    closed = true;
    free_ = free_ + idle;
    idle = 0;
    do
    :: in_line > 0 -> user[line[0]] = refused; pop_line()
    :: else -> break
    od;
    unlock()
}

init {
#ifdef WITH_CLOSE
    atomic { run visitor(0, false); run visitor(1, true); run closer() }
#else
    atomic { run visitor(0, true); run visitor(1, false) }
#endif
    atomic {
        finished == USERS && !locked;
        assert(balanced && out == 0 && creating == 0 && in_line == 0)
    }
}

ltl everyone_ends { <> (finished == USERS) }
