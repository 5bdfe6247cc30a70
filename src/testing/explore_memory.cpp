#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <string>

// Atomics and plain memory.
//
// Each atomic keeps the last stores of its modification order. A load may read any store that is not older than one its
// thread already knows: it wrote or read that store, or a thread whose past it knows did. Sequentially consistent loads
// stop at sequentially consistent stores. Read-modify-writes read the newest store and continue its release sequence. In
// the sequentially consistent mode only the newest store is kept. Happens-before follows the declared orders in both modes.

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

bool acquires(std::memory_order o) noexcept {
    return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
bool releases(std::memory_order o) noexcept {
    return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

std::string show(std::uint64_t value) {
    static const char digits[] = "0123456789abcdef";
    if (value < 1000000) {
        return std::to_string(value);
    }
    if (value > ~std::uint64_t(0) - 1000) {
        return "-" + std::to_string(~value + 1);
    }
    std::string text;
    for (; value != 0; value >>= 4U) {
        text.insert(text.begin(), digits[value & 15U]);
    }
    return "0x" + text;
}

}  // namespace

operation engine::step_on(model_op op, const model_object& object, model_kind kind, bool write, model_site at) {
    operation what;
    what.op = op;
    what.at = at;
    what.add(id_of(resolve(object, kind, at)), write);
    return what;
}

// --- stores and loads --------------------------------------------------------------------------------------------------

unsigned engine::oldest_visible(const object_record& record, bool seq_cst) const {
    const clock_vector& known = threads_[current_]->known;
    unsigned i = record.store_count - 1;
    for (; i > record.floor; --i) {
        const store_record& s = record.stores[i];
        if (s.stamp <= known.at[s.thread] || (seq_cst && s.seq_cst)) {
            break;
        }
        bool seen = false;
        for (unsigned t = 0; t < thread_count_; ++t) {
            seen = seen || (s.seen[t] != 0 && s.seen[t] <= known.at[t]);
        }
        if (seen) {
            break;
        }
    }
    return i;
}

void engine::learn(const store_record& from, std::memory_order order) {
    thread_record& self = me();
    if (acquires(order)) {
        self.known.join(from.release);
    } else {
        self.fence_acquire.join(from.release);
    }
}

void engine::push_store(object_record& record, std::uint64_t value, std::memory_order order, const clock_vector* sequence) {
    thread_record& self = me();
    clock_vector release = sequence != nullptr ? *sequence : clock_vector{};
    if (releases(order)) {
        release.join(self.known);
    } else if (self.fenced) {
        release.join(self.fence_release);
    }
    const unsigned kept = how.weak ? history_length : 1;
    if (record.store_count == kept) {
        for (unsigned i = 1; i < kept; ++i) {
            record.stores[i - 1] = record.stores[i];
        }
        --record.store_count;
        record.floor -= record.floor > 0 ? 1 : 0;
    }
    store_record& s = record.stores[record.store_count++];
    s.value = value;
    s.stamp = self.now;
    s.thread = static_cast<std::uint8_t>(current_);
    s.seq_cst = order == std::memory_order_seq_cst;
    s.release = release;
    s.seen.fill(0);
    s.seen[current_] = self.now;
}

std::uint64_t engine::load(const model_word& word, std::memory_order order, model_site at) {
    order = mutant.order(mutation::what::success, model_op::load, order, at);
    operation what = step_on(model_op::load, word, model_kind::word, false, at);
    visible(what);
    object_record& record = resolve(word, model_kind::word, at);
    what.touched[0].object = id_of(record);
    note_access(record, at);
    const unsigned newest = record.store_count - 1;
    unsigned stale = 0;
    if (newest > 0) {
        // A thread that keeps reading the same old value would wait for ever; stores become visible in finite time.
        const unsigned oldest = record.stale_reads[current_] >= how.old_reads
                                    ? newest
                                    : oldest_visible(record, order == std::memory_order_seq_cst);
        stale = pick_value(newest - oldest + 1);
        record.stale_reads[current_] = stale == 0 ? 0 : static_cast<std::uint8_t>(record.stale_reads[current_] + 1);
    }
    store_record& from = record.stores[newest - stale];
    if (from.seen[current_] == 0) {
        from.seen[current_] = me().now;
    }
    learn(from, order);
    const std::uint64_t value = from.value;
    done(what);
    if (tracing()) {
        trace_step(what, std::string(name_of(order)) + " -> " + show(value) +
                             (stale == 0 ? "" : "  (stale: newest is " + show(record.stores[newest].value) + ")"));
    }
    return value;
}

void engine::store(model_word& word, std::uint64_t value, std::memory_order order, model_site at) {
    order = mutant.order(mutation::what::success, model_op::store, order, at);
    operation what = step_on(model_op::store, word, model_kind::word, true, at);
    visible(what);
    object_record& record = resolve(word, model_kind::word, at);
    what.touched[0].object = id_of(record);
    note_access(record, at);
    push_store(record, value, order, nullptr);
    word.value = value;
    done(what);
    if (tracing()) {
        trace_step(what, std::string(name_of(order)) + " " + show(value));
    }
}

std::uint64_t engine::rmw_begin(model_word& word, model_op op, std::uint64_t expected, model_site at) {
    if (mutant.is_active() && mutant.hits(mutation::what::split, op, at)) {
        const std::uint64_t seen = load(word, std::memory_order_acquire, at);
        rmw_split_ = true;
        rmw_.at = at;
        return seen;
    }
    operation what = step_on(op, word, model_kind::word, true, at);
    visible(what);
    object_record& record = resolve(word, model_kind::word, at);
    what.touched[0].object = id_of(record);
    note_access(record, at);
    rmw_ = what;
    rmw_split_ = false;
    const bool blind = mutant.is_active() && mutant.hits(mutation::what::blind, op, at);
    return blind ? expected : record.stores[record.store_count - 1].value;
}

void engine::rmw_commit(model_word& word, std::uint64_t value, std::memory_order order) {
    if (rmw_split_) {
        rmw_split_ = false;
        store(word, value, std::memory_order_release, rmw_.at);
        return;
    }
    order = mutant.order(mutation::what::success, rmw_.op, order, rmw_.at);
    object_record& record = objects_[rmw_.touched[0].object];
    store_record& from = record.stores[record.store_count - 1];
    from.seen[current_] = from.seen[current_] == 0 ? me().now : from.seen[current_];
    learn(from, order);
    const std::uint64_t before = from.value;
    const clock_vector sequence = from.release;
    push_store(record, value, order, &sequence);
    word.value = value;
    record.stale_reads[current_] = 0;
    done(rmw_);
    if (tracing()) {
        trace_step(rmw_, std::string(name_of(order)) + " " + show(before) + " -> " + show(value));
    }
}

void engine::rmw_fail(model_word&, std::memory_order order) {
    if (rmw_split_) {
        rmw_split_ = false;
        return;
    }
    order = mutant.order(mutation::what::failure, rmw_.op, order, rmw_.at);
    object_record& record = objects_[rmw_.touched[0].object];
    store_record& from = record.stores[record.store_count - 1];
    from.seen[current_] = from.seen[current_] == 0 ? me().now : from.seen[current_];
    learn(from, order);
    record.stale_reads[current_] = 0;
    rmw_.touched[0].write = false;
    const std::uint64_t value = from.value;
    done(rmw_);
    if (tracing()) {
        trace_step(rmw_, std::string("fails, ") + name_of(order) + " -> " + show(value));
    }
}

bool engine::fails_spuriously() { return how.spurious_failures && pick_value(2) == 1; }

// Time passes for a thread that yields: the stores of other threads become visible to it.
void engine::refresh_view() {
    if (!how.weak) {
        return;
    }
    for (std::uint32_t i = first_real_object; i < object_count_; ++i) {
        object_record& record = objects_[i];
        if (record.kind == model_kind::word && !record.dead && record.store_count > 0) {
            store_record& newest = record.stores[record.store_count - 1];
            newest.seen[current_] = newest.seen[current_] == 0 ? me().now : newest.seen[current_];
        }
    }
}

// Every thread passes a full fence at this point: all stores made so far are visible to all loads from here on.
void engine::heavy_barrier(model_site at) {
    if (mutant.is_active() && mutant.hits(mutation::what::skip, model_op::heavy_barrier, at)) {
        return;
    }
    barriers_ = true;
    operation what;
    what.op = model_op::heavy_barrier;
    what.at = at;
    visible(what);
    for (std::uint32_t i = first_real_object; i < object_count_; ++i) {
        objects_[i].floor = objects_[i].store_count == 0 ? 0 : objects_[i].store_count - 1;
    }
    for (unsigned i = 0; i < thread_count_; ++i) {
        thread_record& t = *threads_[i];
        t.known.join(t.fence_acquire);
        t.fence_release = t.known;
        t.fenced = true;
        if (i != current_) {
            t.known.at[i] = ++t.now;
        }
    }
    done(what);
    if (tracing()) {
        trace_step(what, "");
    }
}

// --- plain memory --------------------------------------------------------------------------------------------------------

void engine::plain_read(const model_object& cell, model_site at) {
    object_record& record = resolve(cell, model_kind::cell, at);
    const clock_vector& known = me().known;
    if (record.writer != max_threads && record.writer != current_ && record.written > known.at[record.writer]) {
        fail_with(verdict::data_race, "read at " + place(at) + " by thread " + std::to_string(current_) +
                                          " races with the write at " + place(record.accessed_at[record.writer]) +
                                          " by thread " + std::to_string(record.writer));
    }
    record.read[current_] = me().now;
    note_access(record, at);
    if (tracing()) {
        trace_note("reads plain #" + std::to_string(id_of(record)) + " at " + place(at));
    }
}

void engine::plain_write(const model_object& cell, model_site at) {
    object_record& record = resolve(cell, model_kind::cell, at);
    const clock_vector& known = me().known;
    for (unsigned t = 0; t < thread_count_; ++t) {
        const bool wrote = record.writer == t && record.written > known.at[t];
        if (t != current_ && (wrote || record.read[t] > known.at[t])) {
            fail_with(verdict::data_race, "write at " + place(at) + " by thread " + std::to_string(current_) +
                                              " races with the " + (wrote ? "write" : "read") + " at " +
                                              place(record.accessed_at[t]) + " by thread " + std::to_string(t));
        }
    }
    record.writer = static_cast<std::uint8_t>(current_);
    record.written = me().now;
    note_access(record, at);
    if (tracing()) {
        trace_note("writes plain #" + std::to_string(id_of(record)) + " at " + place(at));
    }
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
