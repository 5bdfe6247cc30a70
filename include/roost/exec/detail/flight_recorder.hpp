#pragma once

// The flight recorder of the process, below all layers that have events. observe/recorder.hpp is its API.
//
//   if (flight_recorder::now() != 0) [[unlikely]] {
//       flight_recorder::write(event_kind::timer_fired, this, lateness, 0);
//   }
//
// Each thread that has an event gets a ring (record_ring.hpp). Rings are never freed, so a signal handler and a reader may
// read each of them at any time. A thread that ends gives its ring back. Its records stay until they are read, or until
// another thread needs the ring.
//
// fields   own       its thread
//          options_, used_, count_, next_   under lock_
//
// id  operation                            order    pairs  carries                                              fails in
// G1  now: load                            relaxed  -      nothing: the owner looks again when it attaches      (floor)
// G2  start, stop: store                   relaxed  -      nothing: stored and read again under the lock        (floor)
// G3  rings, facts about them, the clock   seq_cst  -      rare: attaching, starting and reading
// G4  lost: fetch_add, load                relaxed  -      nothing but the number                               (floor)

#include <roost/exec/detail/name_table.hpp>
#include <roost/exec/detail/record_ring.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

// A ring, with the id and the name of its thread.
class thread_ring : public record_ring {
public:
    explicit thread_ring(std::size_t size) : record_ring(size) {}

    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_.load(mo::seq_cst); }  // G3
    // Returns the number of the first record of this generation and thread.
    [[nodiscard]] std::uint64_t begin() const noexcept { return begin_.load(mo::seq_cst); }  // G3
    [[nodiscard]] std::uint32_t thread_id() const noexcept { return thread_.load(mo::seq_cst); }  // G3: the kernel's
    [[nodiscard]] std::uint64_t name_word(std::size_t i) const noexcept { return name_[i].load(mo::seq_cst); }  // G3
    void note_read() noexcept { read_.store(true, mo::seq_cst); }  // G3

private:
    friend class flight_recorder;
    atomic<std::uint32_t> generation_{0};
    atomic<std::uint64_t> begin_{0};
    atomic<std::uint32_t> thread_{0};
    atomic<std::uint64_t> name_[2]{};
    atomic<bool> owned_{true};
    atomic<bool> read_{false};
};

class flight_recorder {
public:
    struct limits {
        std::size_t records = 0;  // per ring, a power of two
        std::size_t threads = 0;
        std::size_t names = 0;  // a power of two; only the first start decides
    };
    struct instant {
        std::uint64_t ticks = 0;
        std::int64_t ns = 0;
    };
    static constexpr std::size_t most_threads = 1024;

    // Returns the number of the recording that is on; 0 if none is on. While none is on, this load is the only cost.
    // Thread-safe.
    [[nodiscard]] static std::uint32_t now() noexcept {
#if defined(ROOST_SEAM_MODEL)
        return 0;  // one scheduling point less in every model; record_ring_model has its own
#else
        return generation.load(mo::relaxed);  // G1
#endif
    }

    // Records an event of the calling thread. Wait-free, except for the first event of a thread, which takes a lock and
    // allocates.
    [[gnu::noinline, gnu::cold]] static void write(event_kind kind, const void* subject, std::uint64_t first,
                                                   std::uint64_t second) noexcept;
    // As write(); writes two records with one time.
    [[gnu::noinline, gnu::cold]] static void write_created(const void* job, const void* parent, std::uint64_t name,
                                                           std::uint64_t place, std::uint64_t parent_name) noexcept;
    // A body begins or continues on this thread. While it runs, a wake of a frame is recorded as a wake by this job.
    [[gnu::noinline, gnu::cold]] static void write_resumed(const void* job, const void* frame, std::uint64_t name) noexcept;
    // A body is suspended (two records with one time), has ended, or has left this thread.
    [[gnu::noinline, gnu::cold]] static void write_suspended(const void* job, const void* frame, std::uint64_t what,
                                                             std::uint64_t place) noexcept;
    [[gnu::noinline, gnu::cold]] static void write_ended(const void* job, std::uint64_t state) noexcept;
    [[gnu::noinline, gnu::cold]] static void write_left(const void* job, const void* outer) noexcept;
    [[gnu::noinline, gnu::cold]] static void write_woken(const void* frame) noexcept;
    // Returns the word for a name: the address of a literal, or the number of the name's copy in the table.
    [[nodiscard]] static std::uint64_t text(std::string_view name, bool is_literal) noexcept {
        return is_literal ? flight_record::literal(name.data()) : copied_text(name);
    }
    template <class Node>
    [[nodiscard]] static std::uint64_t name_of(const Node& n) noexcept {
        return n.has_literal_name() ? flight_record::literal(n.name_text()) : copied_text(n.name());
    }
    [[nodiscard]] static std::uint64_t copied_text(std::string_view name) noexcept;

    // Begins a new recording. Returns false if a recording is on; it continues. Thread-safe. Throws std::bad_alloc.
    static bool start(const limits& how);
    // Ends the recording. Returns false if none was on. Thread-safe.
    static bool stop() noexcept;

    // For readers; thread-safe and async-signal-safe. They read the recording that began last.
    [[nodiscard]] static std::uint32_t last_generation() noexcept;
    [[nodiscard]] static std::size_t ring_count() noexcept;
    [[nodiscard]] static thread_ring* ring(std::size_t i) noexcept;  // null if it was never made
    [[nodiscard]] static const name_table* names() noexcept;  // null before the first start
    [[nodiscard]] static instant started_at() noexcept;
    [[nodiscard]] static instant read_clock() noexcept;
    // Returns how many records had no ring: too many threads, no memory, or a thread whose thread-locals are destroyed.
    [[nodiscard]] static std::uint64_t lost() noexcept;
    [[nodiscard]] static std::size_t largest_ring() noexcept;
    // Returns how many records of each ring belong to the recording: a ring of an earlier recording may be larger.
    [[nodiscard]] static std::size_t shown() noexcept;

private:
    class own;
    class keeper;
    class state;
    [[nodiscard]] static own* ready() noexcept;
    [[gnu::noinline, gnu::cold]] static own* attach(own& mine) noexcept;
    [[nodiscard]] static thread_ring* ring_for(own& mine, std::uint32_t now) noexcept;
    [[nodiscard]] static thread_ring* reuse(bool even_unread) noexcept;
    [[nodiscard]] static thread_ring* make_ring() noexcept;
    static void adopt(thread_ring& r, std::uint32_t now) noexcept;
    static void give_back(thread_ring& r) noexcept;

    static atomic<std::uint32_t> generation;
    static state shared;
};

// Records that a worker parks, and at the end of the scope that it woke.
class recorded_park {
public:
    explicit recorded_park(bool drives) noexcept {
        if (flight_recorder::now() != 0) [[unlikely]] {
            flight_recorder::write(event_kind::worker_parked, nullptr, drives ? 1 : 0, 0);
        }
    }
    recorded_park(const recorded_park&) = delete;
    recorded_park& operator=(const recorded_park&) = delete;
    ~recorded_park() {
        if (flight_recorder::now() != 0) [[unlikely]] {
            flight_recorder::write(event_kind::worker_woke, nullptr, 0, 0);
        }
    }
};

}  // namespace roost::inline ROOST_ABI::detail
