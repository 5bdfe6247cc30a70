#pragma once

// The last records of one thread: a ring that its owner overwrites, and that any thread may copy meanwhile. The owner is the
// thread that writes.
//
// Why it is not simpler: the owner must not wait for a reader, nor execute a locked instruction. So a reader copies first, and
// then finds out which records the owner may have overwritten during the copy. For that, a word of a record publishes the position
// of the record before it: a reader that copied a word of record n sees a position of at least n.
//
// fields   none but atomics; written by the owner alone. Another thread may become the owner between two records
//          (flight_recorder.cpp)
// I1       record n is in slot n % size; the owner writes it while the position is n
// I2       record n is intact in a copy if the position, read after the copy, is below n + size
//
// id  operation                order    pairs  carries                                           fails in
// F1  write: load position     relaxed  -      nothing: the owner's own store                    (floor)
// F2  write: store words       release  F5     out: the position before this record, I2          record_ring_model: nothing_torn
// F3  write: store position    release  F4     out: the words of the record                      record_ring_model: nothing_stale
// F4  copy: load position      acquire  F3     in: the words of all records below it             record_ring_model: nothing_stale
// F5  copy: load words         acquire  F2     in: the position before the record that it is of  record_ring_model: nothing_torn
// F6  copy, count: load        relaxed  -      nothing: F5 brought what a copy has to see        (floor)

#include <roost/base/atomic.hpp>
#include <roost/exec/detail/flight_record.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace roost::inline ROOST_ABI::detail {

class record_ring {
public:
    // Throws std::bad_alloc. Requires that `size` is a power of two, at least 2. A copy has at most size - 1 records.
    explicit record_ring(std::size_t size) : slots_(new slot[size]), mask_(size - 1) {}
    record_ring(const record_ring&) = delete;
    record_ring& operator=(const record_ring&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return mask_ + 1; }
    // Returns how many records were ever written. Thread-safe.
    [[nodiscard]] std::uint64_t written() const noexcept { return position_.load(mo::relaxed); }  // F6

    // Called by the owner only. Wait-free.
    void write(std::uint64_t ticks, std::uint64_t head, std::uint64_t first, std::uint64_t second) noexcept {
        const std::uint64_t at = position_.load(mo::relaxed);  // F1
        slot& s = slots_[at & mask_];
        s.word[0].store(ticks, mo::release);  // F2
        s.word[1].store(head, mo::release);  // F2
        s.word[2].store(first, mo::release);  // F2
        s.word[3].store(second, mo::release);  // F2
        position_.store(at + 1, mo::release);  // F3
    }

    class copied {
    public:
        std::uint64_t begin = 0;  // the number of the first intact record
        std::uint64_t end = 0;  // one past the last one
        std::uint64_t overwritten = 0;  // records from `from` on that are not in the copy
        std::size_t offset = 0;  // where the first intact record is in `to`
    };
    // Copies the records from number `from` on that are not overwritten, the newest `room` of them. Wait-free, thread-safe,
    // async-signal-safe.
    copied copy(std::uint64_t from, flight_record* to, std::size_t room) const noexcept {
        copied done;
        done.end = position_.load(mo::acquire);  // F4
        const std::uint64_t most = room < mask_ ? room : mask_;
        const std::uint64_t oldest = done.end > most ? done.end - most : 0;
        const std::uint64_t start = from < oldest ? oldest : from;
        for (std::uint64_t n = start; n < done.end; ++n) {
            const slot& s = slots_[n & mask_];
            for (std::size_t w = 0; w < flight_record::words; ++w) {
                to[n - start].word[w] = s.word[w].load(mo::acquire);  // F5
            }
        }
        const std::uint64_t now = position_.load(mo::relaxed);  // F6
        const std::uint64_t intact = now >= size() ? now - mask_ : 0;  // I2
        done.begin = intact < start ? start : intact < done.end ? intact : done.end;
        if (done.begin > done.end) {  // from lies ahead: nothing is there yet
            done.begin = done.end;
        }
        done.overwritten = done.begin > from ? done.begin - from : 0;
        done.offset = static_cast<std::size_t>(done.begin - start);
        return done;
    }

private:
    class alignas(32) slot {
    public:
        atomic<std::uint64_t> word[flight_record::words]{};
    };

    std::unique_ptr<slot[]> slots_;
    std::size_t mask_;
    atomic<std::uint64_t> position_{0};
};

}  // namespace roost::inline ROOST_ABI::detail
