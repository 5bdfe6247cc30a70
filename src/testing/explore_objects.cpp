#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

#if ROOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

// The identity of shimmed objects, and when each was constructed and destroyed.
//
// An access must be ordered after the construction and before the destruction by happens-before; otherwise it is a race
// with the object's lifetime, in whichever order the two ran in this execution.

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

bool is_poisoned([[maybe_unused]] const model_object& object) noexcept {
#if ROOST_ASAN
    return __asan_address_is_poisoned(&object) != 0;
#else
    return false;
#endif
}

}  // namespace

std::uint32_t engine::id_of(const object_record& record) const noexcept {
    return static_cast<std::uint32_t>(&record - objects_.data());
}

object_record& engine::enlist(const model_object& object, model_kind kind) {
    if (object_count_ == objects_.size()) {
        objects_.resize(objects_.size() * 2);
    }
    object_record& record = objects_[object_count_];
    record.where = &object;
    record.kind = kind;
    record.dead = false;
    record.creator = max_threads;
    record.created = 0;
    record.accessed.fill(0);
    record.store_count = 0;
    record.floor = 0;
    record.stale_reads.fill(0);
    record.writer = max_threads;
    record.written = 0;
    record.read.fill(0);
    record.holder = -1;
    record.release = {};
    object.id = object_count_;
    object.epoch = epoch_;
    ++object_count_;
    if (kind == model_kind::word) {
        const auto& word = static_cast<const model_word&>(object);
        store_record& s = record.stores[record.store_count++];
        s.value = word.value;
        s.stamp = 0;
        s.thread = 0;
        s.seq_cst = false;
        s.release = {};
        s.seen.fill(0);
    }
    return record;
}

void engine::construct(const model_object& object, model_kind kind) {
    object_record& record = enlist(object, kind);
    record.creator = static_cast<std::uint8_t>(current_);
    record.created = me().now;
    if (kind == model_kind::cell) {
        record.writer = record.creator;
        record.written = record.created;
        record.accessed_at[current_] = model_site();
    }
}

object_record& engine::resolve(const model_object& object, model_kind kind, model_site at) {
    if (is_poisoned(object)) {  // reading its header would end the program before the verdict
        report_poisoned(object, at);
    }
    if (object.epoch == epoch_ && object.id < object_count_ && objects_[object.id].where == &object) {
        object_record& record = objects_[object.id];
        if (record.dead) {
            report_dead(record, at);
        }
        return record;
    }
    return resolve_unknown(object, kind, at);
}

// Either it was made before this execution (a global: starts from its initial value), or it is destroyed.
object_record& engine::resolve_unknown(const model_object& object, model_kind kind, model_site at) {
    for (std::uint32_t i = object_count_; i-- > first_real_object;) {
        if (objects_[i].where == &object) {
            if (objects_[i].dead) {
                report_dead(objects_[i], at);
            }
            break;
        }
    }
    reject_freed(object, at);
    if (kind == model_kind::word && object.epoch != epoch_) {
        const auto& word = static_cast<const model_word&>(object);
        word.value = word.initial;
    }
    return enlist(object, kind);
}

void engine::report_poisoned(const model_object& object, model_site at) {
    reject_freed(object, at);
    fail_with(verdict::use_after_free, "access at " + place(at) + " by thread " + std::to_string(current_) +
                                           " to an object whose stack frame or memory is gone");
}

void engine::reject_freed(const model_object& object, model_site at) {
    const block_record* block = block_at(&object);
    if (block != nullptr && !block->live) {
        fail_with(verdict::use_after_free, "access at " + place(at) + " by thread " + std::to_string(current_) +
                                               " to memory freed at " + place(block->freed_at));
    }
}

void engine::note_access(object_record& record, model_site at) {
    const unsigned t = current_;
    if (record.creator != max_threads && record.creator != t && record.created > me().known.at[record.creator]) {
        fail_with(verdict::data_race, "access at " + place(at) + " by thread " + std::to_string(t) +
                                          " is not ordered after the object's construction by thread " +
                                          std::to_string(record.creator) + ": it was published too weakly");
    }
    record.accessed[t] = me().now;
    record.accessed_at[t] = at;
}

void engine::end_lifetime(object_record& record, const char* how_ended) {
    const clock_vector& known = me().known;
    for (unsigned t = 0; t < thread_count_; ++t) {
        if (t != current_ && record.accessed[t] > known.at[t]) {
            fail_with(verdict::use_after_free,
                      std::string("an object is ") + how_ended + " by thread " + std::to_string(current_) +
                          (plan.pending(current_).at.line() != 0 ? " after " + place(plan.pending(current_).at) : "") +
                          " while the access at " + place(record.accessed_at[t]) + " by thread " + std::to_string(t) +
                          " is not ordered before that");
        }
    }
    record.dead = true;
    record.ended_at = plan.pending(current_).at;
}

void engine::destroy(const model_object& object) {
    if (is_poisoned(object)) {
        report_poisoned(object, model_site());
    }
    if (object.epoch == epoch_ && object.id < object_count_ && objects_[object.id].where == &object &&
        !objects_[object.id].dead) {
        end_lifetime(objects_[object.id], "destroyed");
    }
}

void engine::report_dead(const object_record& record, model_site at) {
    fail_with(verdict::use_after_free,
              "access at " + place(at) + " by thread " + std::to_string(current_) +
                  " to an object that was destroyed or freed" +
                  (record.ended_at.line() != 0 ? " after " + place(record.ended_at) : std::string()));
}

std::uint32_t engine::queue_of(const void* address) {
    for (const auto& [where, id] : queues_) {
        if (where == address) {
            return id;
        }
    }
    static const model_object placeholder;
    const std::uint32_t id = id_of(enlist(placeholder, model_kind::condition));
    objects_[id].where = nullptr;
    queues_.emplace_back(address, id);
    return id;
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
