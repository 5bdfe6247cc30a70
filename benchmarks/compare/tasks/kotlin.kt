// Kotlin coroutines: launch and async in runBlocking's event loop, which is its cheapest dispatcher; Dispatchers.Default
// for two threads; coroutineScope is the join; select with onAwait is the race.
import kotlinx.coroutines.*
import kotlinx.coroutines.selects.select

@Volatile
var sink = 0

suspend fun spawnJoin(n: Long) {
    for (i in 0 until n) coroutineScope { repeat(1000) { launch { } } }
}

// Only the launch calls are timed.
suspend fun CoroutineScope.create(n: Long): Double {
    var took = 0L
    var left = n
    while (left > 0) {
        val now = minOf(left, 500L)
        left -= now
        var last: Job? = null
        val start = System.nanoTime()
        for (i in 0 until now) last = launch { }
        took += System.nanoTime() - start
        last!!.join()
    }
    return took.toDouble()
}

suspend fun CoroutineScope.createJoin(n: Long) {
    for (i in 0 until n) sink = async { 1 }.await()
}

suspend fun CoroutineScope.startImmediate(n: Long) {
    for (i in 0 until n) sink = async(start = CoroutineStart.UNDISPATCHED) { 1 }.await()
}

suspend fun CoroutineScope.concurrent(count: Int, n: Long) {
    val all = ArrayList<Deferred<Int>>(count)
    for (i in 0 until n) {
        repeat(count) { all.add(async { 1 }) }
        var sum = 0
        for (child in all) sum += child.await()
        sink = sum
        all.clear()
    }
}

// Only the awaits are timed: the children have ended.
suspend fun CoroutineScope.awaitEnded(n: Long): Double {
    var took = 0L
    var left = n
    while (left > 0) {
        val now = minOf(left, 500L).toInt()
        left -= now
        val all = List(now) { async { 1 } }
        all.forEach { it.join() }
        var sum = 0
        val start = System.nanoTime()
        for (child in all) sum += child.await()
        took += System.nanoTime() - start
        sink = sum
    }
    return took.toDouble()
}

suspend fun awaitReady(n: Long) {
    val ready = CompletableDeferred(1)
    for (i in 0 until n) sink = ready.await()
}

// The first of two; the other one is cancelled, and the scope waits for it.
suspend fun raceTwo(n: Long) {
    for (i in 0 until n) {
        sink = coroutineScope {
            val a = async { 1 }
            val b = async { 2 }
            val first = select<Int> {
                a.onAwait { it }
                b.onAwait { it }
            }
            coroutineContext.cancelChildren()
            first
        }
    }
}

fun main(args: Array<String>) = run(args, listOf(
    Subject("jobs/spawn_join_1t", "Kotlin launch", 1000, alone { spawnJoin(it) }),
    Subject("jobs/spawn_join_2t", "Kotlin launch", 1000, on(Dispatchers.Default) { spawnJoin(it) }),
    Subject("jobs/create", "Kotlin launch", 1, timedInside { create(it) }),
    Subject("jobs/create_join", "Kotlin async", 1, alone { createJoin(it) }),
    Subject("jobs/start_immediate", "Kotlin async, undispatched", 1, alone { startImmediate(it) }),
    Subject("jobs/concurrent_64", "Kotlin async", 64, alone { concurrent(64, it) }),
    Subject("jobs/handles_64", "Kotlin async", 64, alone { concurrent(64, it) }),
    Subject("jobs/await_ended", "Kotlin Deferred", 1, timedInside { awaitEnded(it) }),
    Subject("task/await_ready", "Kotlin Deferred", 1, alone { awaitReady(it) }),
    Subject("jobs/race_two", "Kotlin select", 1, alone { raceTwo(it) })))
