/* Raising a level while children attach and finish: root with up to two children, one of which attaches late.
 *
 * Protocol (tree/raise): the raiser marks the node, then walks its list; a child is linked first and reads its
 * parent's level after that. So every child that is in the tree when raise returns has the level, whether
 * the walk or the child itself brought it. A second raiser helps and does not return before the walk is done.
 *
 * Planted CHECK_THEN_LINK: the child reads the level before it is linked.
 * Planted NO_HELP: the second raiser returns at once because the level is already up.
 */
#define CHILDREN 2
bool raised;              /* the root's level */
bool walked;              /* the first walk has reached everybody it can see */
bool linked[CHILDREN], latched[CHILDREN], attached[CHILDREN], gone[CHILDREN];
byte returned;            /* raisers that have returned */
bool locked;
byte seen[CHILDREN];      /* how often a child's cancellation ran */

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline latch(who) {
    atomic { if :: !latched[who] -> latched[who] = true; seen[who]++ :: else fi }
}

inline walk() {
    i = 0;
    do
    :: i == CHILDREN -> break
    :: else ->
        lock();
        if :: linked[i] -> latch(i) :: else fi;
        unlock();
        i++
    od
}

proctype raiser() {
    byte i;
    bool first;
    atomic { first = !raised; raised = true };
    if
    :: first -> walk(); walked = true
#ifdef NO_HELP
    :: else
#else
    :: else -> walk()
#endif
    fi;
    /* Whoever had finished attaching has the level now. */
    atomic {
        i = 0;
        do
        :: i == CHILDREN -> break
        :: else -> assert(!(attached[i] && !gone[i]) || latched[i]); i++
        od;
        i = 0;
        returned++
    }
}

proctype child(byte me) {
    bool born_under;
#ifdef CHECK_THEN_LINK
    born_under = raised;
    lock();
    linked[me] = true;
    unlock();
#else
    lock();
    linked[me] = true;
    unlock();
    born_under = raised;
#endif
    if :: born_under -> latch(me) :: else fi;
    attached[me] = true;
    if
    :: latched[me]
    :: true  /* ends by itself */
    fi;
    lock();
    linked[me] = false;
    atomic { gone[me] = true };
    unlock()
}

init { atomic { run child(0); run child(1); run raiser(); run raiser() } }

ltl once { [] (seen[0] <= 1 && seen[1] <= 1) }
ltl raisers_return { <> (returned == 2) }
