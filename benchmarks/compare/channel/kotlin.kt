// Kotlin channels between two coroutines: runBlocking's event loop (1T), Dispatchers.Default (2T). Per hop, and per value
// for the stream.
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel

suspend fun pingPong(n: Long) = coroutineScope<Unit> {
    val there = Channel<Long>(1)
    val back = Channel<Long>(1)
    launch { for (i in 0 until n) back.send(there.receive()) }
    launch {
        for (i in 0 until n) {
            there.send(i)
            back.receive()
        }
    }
}

suspend fun stream(n: Long) = coroutineScope<Unit> {
    val pipe = Channel<Long>(64)
    launch { for (i in 0 until n) pipe.send(i) }
    launch { for (i in 0 until n) pipe.receive() }
}

fun main(args: Array<String>) = run(args, listOf(
    Subject("sync/channel_ping_pong_1t", "Kotlin Channel", 2, alone { pingPong(it) }),
    Subject("sync/channel_ping_pong_2t", "Kotlin Channel", 2, on(Dispatchers.Default) { pingPong(it) }),
    Subject("sync/channel_stream_1t", "Kotlin Channel", 1, alone { stream(it) }),
    Subject("sync/channel_stream_2t", "Kotlin Channel", 1, on(Dispatchers.Default) { stream(it) })))
