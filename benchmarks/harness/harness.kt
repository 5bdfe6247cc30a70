// The measuring side of the Kotlin subjects; same protocol as harness.hpp. What the JVM needs to warm up is not measured.
import java.lang.management.ManagementFactory
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

// batch(n) does n rounds of `per` operations and returns the nanoseconds they took.
class Subject(val name: String, val subject: String, val per: Int = 1, val batch: (Long) -> Double)

// On the event loop of one thread.
fun alone(body: suspend CoroutineScope.(Long) -> Unit): (Long) -> Double = { n ->
    val start = System.nanoTime()
    runBlocking { body(n) }
    (System.nanoTime() - start).toDouble()
}

fun on(threads: CoroutineDispatcher, body: suspend CoroutineScope.(Long) -> Unit): (Long) -> Double =
    alone { n -> withContext(threads) { body(n) } }

// The body says how much of its time counts.
fun timedInside(body: suspend CoroutineScope.(Long) -> Double): (Long) -> Double = { n -> runBlocking { body(n) } }

fun measure(ms: Int, batch: (Long) -> Double): Pair<Double, Long> {
    // Until the compiler is done with it: by CPU time, because others may be using the machine.
    val system = ManagementFactory.getOperatingSystemMXBean() as com.sun.management.OperatingSystemMXBean
    val warm = system.processCpuTime + 1_200_000_000L
    var n = 1L
    while (system.processCpuTime < warm) if (batch(n) < 1e7) n *= 2
    n = 1L
    // One long batch may have been a disturbance: believe the second.
    while (batch(n) < ms * 1e6 / 20 || batch(n) < ms * 1e6 / 20) n *= 2
    val each = ArrayList<Double>()
    var ops = 0L
    val end = System.nanoTime() + ms * 1_000_000L
    while (each.size < 5 || System.nanoTime() < end) {
        each.add(batch(n) / n)
        ops += n
    }
    each.sort()
    return Pair(each[each.size / 5], ops) // the 20th percentile, as in harness.hpp
}

fun run(args: Array<String>, all: List<Subject>) {
    if (args.contains("--list")) {
        for (s in all) println("${s.name}\t${s.subject}\tpeer")
        return
    }
    fun valueOf(key: String) = args.getOrNull(args.indexOf(key) + 1).takeIf { args.contains(key) }
    val wanted = all.find { it.name == valueOf("--case") && (valueOf("--subject") ?: it.subject) == it.subject }
    if (wanted == null) {
        System.err.println("no such case; try --list, or --case CASE --subject SUBJECT --ms N")
        System.exit(2)
        return
    }
    val (value, ops) = measure((valueOf("--ms") ?: "50").toInt(), wanted.batch)
    println("${wanted.name} ${value / wanted.per} ${ops * wanted.per}")
    System.exit(0)
}
