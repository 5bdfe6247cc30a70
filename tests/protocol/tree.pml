/* Work counting in a chain root <- middle <- leaf with two creators of units at the leaf, and a stop at the root.
 *
 * Protocol (tree/work_counter): a unit is added at the leaf; a creator that finds the node not announced announces
 * it upwards before it returns, each in its own name, and takes its announcement back if somebody was faster.
 * The step from one to zero units takes the announcement back. A root whose word says stopped and zero completes.
 *
 * Planted LEAF_FIRST: the second creator trusts the first's count and returns before the root knows.
 * Planted DOUBLE_ANNOUNCE: who comes second does not take its announcement back.
 */
#define DEPTH 3  /* 0 is the root */
byte count[DEPTH];
bool announced[DEPTH];
bool stopped;
byte completed;
byte returned;    /* units whose creator has returned and that are not dropped yet */
byte done;

/* One atomic step on a node's word each; the walk between them is not atomic. */
inline enter(from) {
    at = from;
    top = from;
    do
    :: atomic { was = announced[at]; busy = (count[at] > 0); count[at]++ };
#ifdef LEAF_FIRST
       if :: was || busy || at == 0 -> break :: else -> at-- fi
#else
       if :: was || at == 0 -> break :: else -> at-- fi
#endif
    od;
    /* From the top down: the parent knows, so this node is announced. */
    do
    :: at == from -> break
    :: else ->
        at++;
        atomic { was = announced[at]; announced[at] = true };
#ifndef DOUBLE_ANNOUNCE
        if :: was -> leave(at - 1) :: else fi
#endif
    od
}

inline leave(from_) {
    down = from_;
    do
    :: atomic {
           count[down]--;
           last = (count[down] == 0);
           ends = (last && down == 0 && stopped && completed == 0);
           if :: ends -> completed++ :: else fi
       };
       if
       :: down == 0 || !last -> break
       :: else ->
           atomic {
               take_back = (count[down] == 0 && announced[down]);
               if :: take_back -> announced[down] = false :: else fi
           };
           if :: take_back -> down-- :: else -> break fi
       fi
    od
}

proctype creator() {
    byte at, top, down;
    bool was, busy, last, ends, take_back;
    enter(2);
    atomic {
        returned++;
        assert(count[0] > 0);  /* visible at the root when the creator returns */
    }
    atomic { assert(count[0] > 0); returned-- };
    leave(2);
    done++
}

proctype stopper() {
    atomic {
        stopped = true;
        if :: count[0] == 0 && completed == 0 -> completed++ :: else fi
    }
}

init { atomic { run creator(); run creator(); run stopper() } }

ltl visible { [] (returned == 0 || count[0] > 0) }
ltl completes { <> (completed == 1) }
ltl nothing_stays { <> (done == 2 && [] (done < 2 || (count[0] == 0 && count[1] == 0 && count[2] == 0))) }
