// Orders P1 to P7: task/detail/job/job_meter.hpp.

#include <roost/task/detail/job/job_meter.hpp>

#include <algorithm>
#include <memory>
#include <mutex>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr duration late_after = std::chrono::milliseconds(100);  // as the runtime's soft budget for bodies

constexpr std::size_t own_blocks = 31;
constexpr std::size_t places = 512;  // of names, so that a search is short
constexpr std::size_t probes = 64;

struct job_name {
    std::uint64_t hash = 0;
    std::size_t size = 0;
    char text[job_meter::longest_name] = {};
};

struct probe {
    atomic<const void*> job{nullptr};
    atomic<std::int64_t> at{0};
    atomic<std::uint32_t> times{0};
};

struct meter_state {
    job_meter_block blocks[own_blocks + 1];
    job_name names[job_meter::most_names + 1];
    atomic<std::uint32_t> numbers[places]{};  // 0: none
    probe sampled[probes];
    small_mutex lock;  // of count, and of adding a name
    std::uint32_t count = 0;
};

constinit atomic<meter_state*> meter{nullptr};  // never freed

std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash ^ hash >> 32U;
}

// Returns the name's number, and in `place` where the search ended; 0 if it is new.
std::uint32_t find(meter_state& in, std::string_view text, std::uint64_t hash, std::size_t& place) noexcept {
    for (place = hash % places;; place = (place + 1) % places) {
        const std::uint32_t number = in.numbers[place].load(mo::seq_cst);  // P1
        if (number == 0) {
            return 0;
        }
        const job_name& known = in.names[number];
        if (known.hash == hash && text == std::string_view(known.text, known.size)) {
            return number;
        }
    }
}

std::uint32_t number_of(meter_state& in, std::string_view text) noexcept {
    text = text.substr(0, job_meter::longest_name);
    const std::uint64_t hash = hash_of(text);
    std::size_t place = 0;
    if (const std::uint32_t known = find(in, text, hash, place)) {
        return known;
    }
    const std::lock_guard hold(in.lock);
    if (const std::uint32_t known = find(in, text, hash, place)) {
        return known;
    }
    if (in.count == job_meter::most_names) {
        return 0;
    }
    const std::uint32_t number = ++in.count;
    job_name& added = in.names[number];
    added.hash = hash;
    added.size = text.copy(added.text, sizeof added.text);
    in.numbers[place].store(number, mo::seq_cst);  // P2
    return number;
}

// Counts in the thread's own block, or in the one that is shared.
template <class Number>
void add_one(meter_state& all, measured_thread& mine, Number number) noexcept {
    if (mine.block == nullptr) {
        const std::size_t thread = thread_index();
        if (thread >= own_blocks) {
            number(all.blocks[own_blocks]).fetch_add(1, mo::relaxed);  // P4
            return;
        }
        mine.block = &all.blocks[thread];
    }
    measured_thread::add_own(number(*mine.block));
}

std::size_t slot_of(const void* job) noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(job) >> 4U) * 0x9e3779b97f4a7c15U >> 58U) % probes;
}

}  // namespace

void job_meter::prepare() {
    if (meter.load(mo::seq_cst) != nullptr) {  // P7
        return;
    }
    auto made = std::make_unique<meter_state>();
    meter_state* none = nullptr;
    if (meter.compare_exchange_strong(none, made.get(), mo::seq_cst, mo::seq_cst)) {  // P7
        static_cast<void>(made.release());
    }
}

std::uint32_t measured_sampler::take(time_point& at) noexcept {
    constexpr duration dense = std::chrono::microseconds(250);
    constexpr duration sparse = std::chrono::milliseconds(100);
    at = now();
    const duration since = at - last_;
    last_ = at;
    const std::uint32_t stands_for = std::max<std::uint32_t>(step_, 1);
    interval_ = std::max<std::uint32_t>(interval_, 1);
    if (since > sparse) {
        interval_ = 1;
    } else {
        interval_ = since < dense ? std::min(interval_ * 2, most) : std::max<std::uint32_t>(interval_ / 2, 1);
    }
    step_ = interval_ / 2 + 1 + static_cast<std::uint32_t>((random_u64() >> 32U) % interval_);
    left_ = step_;
    return stands_for;
}

// Nothing is counted if this thread saw the switch before the meter.
void job_meter::count_created(measured_thread& mine) noexcept {
    if (meter_state* const all = meter.load(mo::seq_cst)) {  // P7
        add_one(*all, mine, [](job_meter_block& of) -> atomic<std::uint64_t>& { return of.created; });
    }
}

bool job_meter::probe_delay(const void* job, time_point at, std::uint32_t times) noexcept {
    meter_state* const all = meter.load(mo::seq_cst);  // P7
    if (all == nullptr) {
        return false;
    }
    probe& slot = all->sampled[slot_of(job)];
    slot.job.store(nullptr, mo::seq_cst);                          // P6
    slot.at.store(at.time_since_epoch().count(), mo::seq_cst);  // P6
    slot.times.store(times, mo::seq_cst);                          // P6
    slot.job.store(job, mo::seq_cst);                              // P6
    return true;
}

void job_meter::begins(const void* job) noexcept {
    probe& slot = meter.load(mo::seq_cst)->sampled[slot_of(job)];  // P7
    const std::int64_t at = slot.at.load(mo::seq_cst);           // P6
    const std::uint32_t times = slot.times.load(mo::seq_cst);  // P6
    if (slot.job.compare_exchange_strong(job, nullptr, mo::seq_cst, mo::seq_cst)) {  // P6
        const duration delay = now() - time_point(duration(at));
        measuring::record(timed::run_delay, delay, times);
        if (delay >= late_after) {
            measuring::count(rare_event::late_start, times);
        }
    }
}

void job_meter::ended(measured_thread& mine, const char* literal, std::string_view name, job_end how) noexcept {
    meter_state* const all = meter.load(mo::seq_cst);  // P7
    if (all == nullptr) {
        return;
    }
    std::uint32_t number = 0;
    if (literal != nullptr) {
        measured_thread::known_name& known =
            mine.names[(reinterpret_cast<std::uintptr_t>(literal) >> 3U) % mine.names.size()];
        if (known.text != literal) {
            known = {literal, number_of(*all, name)};
        }
        number = known.number;
    } else {
        number = number_of(*all, name);
    }
    add_one(*all, mine,
            [=](job_meter_block& of) -> atomic<std::uint64_t>& { return of.ended[number][static_cast<std::size_t>(how)]; });
    if (literal != nullptr && mine.block != nullptr) {
        mine.last_name = literal;
        mine.last_completed = &mine.block->ended[number][static_cast<std::size_t>(job_end::completed)];
    }
}

job_totals job_meter::totals() noexcept {
    job_totals all;
    if (const meter_state* from = meter.load(mo::seq_cst)) {  // P7
        // Ends first: a job that ends during this is counted as alive at most.
        for (std::uint32_t n = 0; n <= most_names; ++n) {
            for (const job_end how : {job_end::completed, job_end::failed, job_end::cancelled}) {
                all.ended += count_of(n, how);
            }
        }
        for (const job_meter_block& block : from->blocks) {
            all.created += block.created.load(mo::relaxed);  // P5
        }
    }
    return all;
}

std::uint64_t job_meter::count_of(std::uint32_t name, job_end how) noexcept {
    std::uint64_t sum = 0;
    if (const meter_state* from = meter.load(mo::seq_cst)) {  // P7
        for (const job_meter_block& block : from->blocks) {
            sum += block.ended[name][static_cast<std::size_t>(how)].load(mo::relaxed);  // P5
        }
    }
    return sum;
}

std::string_view job_meter::name_of(std::uint32_t name) noexcept {
    if (name == 0) {
        return "other";
    }
    const job_name& known = meter.load(mo::seq_cst)->names[name];  // P7
    return {known.text, known.size};
}

}  // namespace roost::inline ROOST_ABI::detail
