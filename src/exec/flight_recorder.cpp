// Orders G1 to G4: exec/detail/flight_recorder.hpp.

#include <roost/exec/detail/flight_recorder.hpp>

#include <roost/exec/detail/observing.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace roost::inline ROOST_ABI::detail {

// What a thread finds at each event. Trivial, so that reaching it needs no check for its construction.
class flight_recorder::own {
public:
    thread_ring* ring = nullptr;
    std::uint32_t generation = 0;  // of the recording that the ring was prepared for
    std::uint32_t refused_in = 0;  // the recording that had no ring for this thread
    const void* current = nullptr;  // the job whose body runs here
    const void* stopped = nullptr;  // the job whose body was suspended or ended by the last record
    std::uint64_t stopped_at = 0;
    bool has_ended = false;
};

// Gives the ring back when the thread ends.
class flight_recorder::keeper {
public:
    keeper() noexcept = default;
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
    ~keeper() {
        own& mine = thread_value<own, own>::get();
        mine.has_ended = true;
        mine.generation = 0;
        if (thread_ring* const r = std::exchange(mine.ring, nullptr)) {
            give_back(*r);
        }
    }
    void keep() const noexcept {}
};

class flight_recorder::state {
public:
    small_mutex lock;
    limits how;                // under the lock, as the next three
    std::uint32_t next = 1;    // the next generation
    std::size_t used = 0;      // rings of this generation
    std::size_t reserved = 0;  // slots of `rings` that are taken
    atomic<thread_ring*> rings[most_threads]{};
    atomic<name_table*> names{nullptr};
    atomic<std::uint32_t> last{0};
    atomic<std::uint64_t> start_ticks{0};
    atomic<std::int64_t> start_ns{0};
    atomic<std::uint64_t> lost{0};
    atomic<std::size_t> largest{0};
    atomic<std::size_t> shown{0};  // how many records of each ring belong to the recording
};

constinit atomic<std::uint8_t> observing::bits{0};
constinit atomic<std::uint32_t> flight_recorder::generation{0};
constinit flight_recorder::state flight_recorder::shared;

// --- the owner -------------------------------------------------------------------------------------------------------

inline flight_recorder::own* flight_recorder::ready() noexcept {
    own& mine = thread_value<own, own>::get();
    return mine.generation == generation.load(mo::relaxed) && mine.generation != 0 ? &mine : attach(mine);  // G1
}

void flight_recorder::write(event_kind kind, const void* subject, std::uint64_t first, std::uint64_t second) noexcept {
    if (own* const mine = ready()) {
        mine->stopped = nullptr;
        mine->ring->write(ticks(), flight_record::head(kind, flight_record::address(subject)), first, second);
    }
}

void flight_recorder::write_created(const void* job, const void* parent, std::uint64_t name, std::uint64_t place,
                                    std::uint64_t parent_name) noexcept {
    if (own* const mine = ready()) {
        mine->stopped = nullptr;
        const std::uint64_t at = ticks();
        const std::uint64_t subject = flight_record::address(job);
        mine->ring->write(at, flight_record::head(event_kind::job_created, subject), flight_record::address(parent), name);
        mine->ring->write(at, flight_record::head(event_kind::job_origin, subject), place, parent_name);
    }
}

void flight_recorder::write_resumed(const void* job, const void* frame, std::uint64_t name) noexcept {
    if (own* const mine = ready()) {
        mine->stopped = nullptr;
        mine->current = job;
        mine->ring->write(ticks(), flight_record::head(event_kind::job_resumed, flight_record::address(job)),
                          flight_record::address(frame), name);
    }
}

// A body leaves its thread as soon as it is suspended or has ended: if that was the last record, it has the time already.
void flight_recorder::write_left(const void* job, const void* outer) noexcept {
    if (own* const mine = ready()) {
        mine->current = outer;
        const bool is_stamped = std::exchange(mine->stopped, nullptr) == job;
        mine->ring->write(is_stamped ? mine->stopped_at : ticks(),
                          flight_record::head(event_kind::job_left, flight_record::address(job)),
                          flight_record::address(outer), 0);
    }
}

void flight_recorder::write_woken(const void* frame) noexcept {
    if (own* const mine = ready()) {
        mine->stopped = nullptr;
        mine->ring->write(ticks(), flight_record::head(event_kind::frame_woken, flight_record::address(frame)),
                          flight_record::address(mine->current), 0);
    }
}

std::uint64_t flight_recorder::copied_text(std::string_view name) noexcept {
    name_table* const names = shared.names.load(mo::seq_cst);  // G3
    return names == nullptr || name.empty() ? 0 : flight_record::name_tag | names->number_of(name);
}

void flight_recorder::write_suspended(const void* job, const void* frame, std::uint64_t what, std::uint64_t place) noexcept {
    if (own* const mine = ready()) {
        const std::uint64_t subject = flight_record::address(job);
        mine->stopped = job;
        mine->stopped_at = ticks();
        mine->ring->write(mine->stopped_at, flight_record::head(event_kind::job_suspended, subject),
                          flight_record::address(frame), what);
        mine->ring->write(mine->stopped_at, flight_record::head(event_kind::job_awaits, subject), place, 0);
    }
}

void flight_recorder::write_ended(const void* job, std::uint64_t state) noexcept {
    if (own* const mine = ready()) {
        mine->stopped = job;
        mine->stopped_at = ticks();
        mine->ring->write(mine->stopped_at, flight_record::head(event_kind::job_ended, flight_record::address(job)), state,
                          0);
    }
}

// The first event of a thread in a recording.
flight_recorder::own* flight_recorder::attach(own& mine) noexcept {
    const std::uint32_t now = generation.load(mo::relaxed);  // G1
    if (now == 0) {
        return nullptr;
    }
    if (mine.has_ended || mine.refused_in == now) {
        shared.lost.fetch_add(1, mo::relaxed);  // G4
        return nullptr;
    }
    mine.current = nullptr;
    thread_ring* const r = ring_for(mine, now);
    if (r == nullptr) {
        mine.refused_in = now;
        shared.lost.fetch_add(1, mo::relaxed);  // G4
        return nullptr;
    }
    mine.ring = r;
    mine.generation = now;
    thread_value<keeper, keeper>::get().keep();
    r->write(ticks(), flight_record::head(event_kind::thread_began, 0), r->thread_id(), 0);
    return &mine;
}

thread_ring* flight_recorder::ring_for(own& mine, std::uint32_t now) noexcept {
    thread_ring* r = mine.ring;
    {
        const std::lock_guard guard(shared.lock);
        if (r != nullptr && r->size() < shared.how.records) {
            give_back(*std::exchange(r, nullptr));
            mine.ring = nullptr;
        }
        if (r != nullptr && shared.used >= shared.how.threads) {
            return nullptr;
        }
        if (r == nullptr) {
            r = reuse(false);
        }
        if (r == nullptr && shared.used >= shared.how.threads) {
            r = reuse(true);
        }
        if (r != nullptr) {
            adopt(*r, now);
            return r;
        }
        if (shared.used >= shared.how.threads || shared.reserved == most_threads) {
            return nullptr;
        }
    }
    r = make_ring();
    if (r == nullptr) {
        return nullptr;
    }
    const std::lock_guard guard(shared.lock);
    if (shared.used >= shared.how.threads) {  // other threads were faster
        give_back(*r);
        return nullptr;
    }
    adopt(*r, now);
    return r;
}

// Requires the lock. Returns a ring whose thread has ended; null if there is none.
thread_ring* flight_recorder::reuse(bool even_unread) noexcept {
    const std::uint32_t now = shared.last.load(mo::seq_cst);  // G3
    for (std::size_t i = 0; i < shared.reserved; ++i) {
        thread_ring* const r = shared.rings[i].load(mo::seq_cst);             // G3
        if (r == nullptr || r->owned_.load(mo::seq_cst) || r->size() < shared.how.records) {  // G3
            continue;
        }
        const bool is_of_now = r->generation() == now;
        if (!is_of_now ? shared.used < shared.how.threads : r->read_.load(mo::seq_cst)) {  // G3
            return r;
        }
        if (is_of_now && even_unread) {
            shared.lost.fetch_add(std::min<std::uint64_t>(r->written() - r->begin(), r->size() - 1), mo::relaxed);  // G4
            return r;
        }
    }
    return nullptr;
}

thread_ring* flight_recorder::make_ring() noexcept {
    std::size_t size = 0;
    std::size_t at = 0;
    {
        const std::lock_guard guard(shared.lock);
        if (shared.reserved == most_threads) {
            return nullptr;
        }
        size = shared.how.records;
        at = shared.reserved++;
    }
    thread_ring* made = nullptr;
    try {
        made = new thread_ring(size);
    } catch (const std::bad_alloc&) {
        return nullptr;  // the slot stays empty
    }
    shared.rings[at].store(made, mo::seq_cst);                                            // G3
    shared.largest.store(std::max(shared.largest.load(mo::seq_cst), size), mo::seq_cst);  // G3
    return made;
}

// Requires the lock.
void flight_recorder::adopt(thread_ring& r, std::uint32_t now) noexcept {
    char name[16] = {};
    ::prctl(PR_GET_NAME, name);
    for (std::size_t i = 0; i < 2; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, name + i * sizeof word, sizeof word);
        r.name_[i].store(word, mo::seq_cst);  // G3
    }
    r.thread_.store(static_cast<std::uint32_t>(::syscall(SYS_gettid)), mo::seq_cst);  // G3
    r.begin_.store(r.written(), mo::seq_cst);                                         // G3
    r.owned_.store(true, mo::seq_cst);                                                // G3
    r.read_.store(false, mo::seq_cst);                                                // G3
    if (r.generation_.exchange(now, mo::seq_cst) != now) {                            // G3
        ++shared.used;
    }
}

void flight_recorder::give_back(thread_ring& r) noexcept { r.owned_.store(false, mo::seq_cst); }  // G3

// --- starting and reading --------------------------------------------------------------------------------------------

bool flight_recorder::start(const limits& how) {
    if (shared.names.load(mo::seq_cst) == nullptr) {  // G3
        auto* made = new name_table(how.names);
        name_table* none = nullptr;
        if (!shared.names.compare_exchange_strong(none, made, mo::seq_cst, mo::seq_cst)) {  // G3
            delete made;
        }
    }
    const std::lock_guard guard(shared.lock);
    if (generation.load(mo::relaxed) != 0) {  // G1
        return false;
    }
    shared.how = how;
    shared.shown.store(how.records, mo::seq_cst);  // G3
    shared.used = 0;
    const std::uint32_t now = shared.next;
    shared.next = now + 1 == 0 ? 1 : now + 1;
    const instant at = read_clock();
    shared.start_ticks.store(at.ticks, mo::seq_cst);  // G3
    shared.start_ns.store(at.ns, mo::seq_cst);        // G3
    shared.lost.store(0, mo::relaxed);                // G4
    shared.last.store(now, mo::seq_cst);              // G3
    generation.store(now, mo::relaxed);               // G2
    observing::set(observing::by::recorder, true);
    return true;
}

bool flight_recorder::stop() noexcept {
    const std::lock_guard guard(shared.lock);
    const bool was_on = generation.load(mo::relaxed) != 0;  // G1
    generation.store(0, mo::relaxed);                       // G2
    observing::set(observing::by::recorder, false);
    return was_on;
}

std::uint32_t flight_recorder::last_generation() noexcept { return shared.last.load(mo::seq_cst); }  // G3
std::size_t flight_recorder::ring_count() noexcept { return most_threads; }
thread_ring* flight_recorder::ring(std::size_t i) noexcept { return shared.rings[i].load(mo::seq_cst); }  // G3
const name_table* flight_recorder::names() noexcept { return shared.names.load(mo::seq_cst); }            // G3
std::uint64_t flight_recorder::lost() noexcept { return shared.lost.load(mo::relaxed); }                  // G4
std::size_t flight_recorder::shown() noexcept { return shared.shown.load(mo::seq_cst); }                  // G3
std::size_t flight_recorder::largest_ring() noexcept { return shared.largest.load(mo::seq_cst); }         // G3

flight_recorder::instant flight_recorder::started_at() noexcept {
    return {shared.start_ticks.load(mo::seq_cst), shared.start_ns.load(mo::seq_cst)};  // G3
}
flight_recorder::instant flight_recorder::read_clock() noexcept {
    return {ticks(), roost::now().time_since_epoch().count()};
}

}  // namespace roost::inline ROOST_ABI::detail
