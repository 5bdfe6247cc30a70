#include <roost/observe/detail/recording_writer.hpp>

#include <roost/base/wall_clock.hpp>

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace roost::inline ROOST_ABI::detail {

bool recording_writer::run() noexcept {
    std::fill_n(memory_.seen.get(), writer_memory::texts, 0);
    bool goes_on = write_header();
    const std::uint32_t last = flight_recorder::last_generation();
    for (std::size_t i = 0; i < flight_recorder::ring_count(); ++i) {
        thread_ring* const ring = flight_recorder::ring(i);
        if (ring == nullptr || ring->generation() != last || last == 0) {
            continue;
        }
        if (!goes_on) {
            counts_.lost += std::min<std::uint64_t>(ring->written() - ring->begin(), ring->size() - 1);
        } else if ((goes_on = write_ring(static_cast<std::uint32_t>(i), *ring))) {
            ring->note_read();
        }
    }
    counts_.unrecorded = flight_recorder::lost();
    counts_.unnamed = flight_recorder::names() == nullptr ? 0 : flight_recorder::names()->overflowed();
    return goes_on && write_chunk(chunk_kind::end, &counts_, sizeof counts_, nullptr, 0);
}

bool recording_writer::write_header() noexcept {
    const flight_recorder::instant start = flight_recorder::started_at();
    const flight_recorder::instant end = flight_recorder::read_clock();
    file_header h{};
    std::memcpy(h.magic, recording_magic, sizeof h.magic);
    h.version = recording_version;
    h.byte_order = recording_byte_order;
    h.header_size = sizeof h;
    h.process = static_cast<std::uint32_t>(::getpid());
    h.start_ticks = start.ticks;
    h.start_ns = start.ns;
    h.end_ticks = end.ticks;
    h.end_ns = end.ns;
    h.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(ext::wall_now().time_since_epoch()).count();
    return to_.take(&h, sizeof h);
}

bool recording_writer::write_chunk(chunk_kind kind, const void* head, std::size_t head_size, const void* body,
                                   std::size_t body_size) noexcept {
    const chunk_header h{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(head_size + body_size)};
    return to_.take(&h, sizeof h) && to_.take(head, head_size) && (body_size == 0 || to_.take(body, body_size));
}

// Another thread may take the ring over meanwhile: then only its records count.
bool recording_writer::write_ring(std::uint32_t index, const thread_ring& ring) noexcept {
    thread_header h{};
    const std::uint64_t from = ring.begin();
    record_ring::copied got = ring.copy(from, memory_.records.get(), std::min(memory_.room, flight_recorder::shown()));
    h.thread = ring.thread_id();
    h.ring = index;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::uint64_t word = ring.name_word(i);
        std::memcpy(h.name + i * sizeof word, &word, sizeof word);
    }
    if (const std::uint64_t now = ring.begin(); now > got.begin) {
        const std::uint64_t gone = std::min(now, got.end) - got.begin;
        got.begin += gone;
        got.overwritten += gone;
        got.offset += static_cast<std::size_t>(gone);
    }
    const flight_record* const records = memory_.records.get() + got.offset;
    const auto count = static_cast<std::size_t>(got.end - got.begin);
    h.lost = got.overwritten;
    counts_.lost += got.overwritten;
    if (!write_texts(records, count) || !write_chunk(chunk_kind::thread, &h, sizeof h, records, count * sizeof *records)) {
        counts_.lost += count;
        return false;
    }
    counts_.records += count;
    return true;
}

bool recording_writer::write_texts(const flight_record* records, std::size_t count) noexcept {
    for (const flight_record* r = records; r != records + count; ++r) {
        const unsigned texts = flight_record::texts_of(r->kind());
        const unsigned places = flight_record::places_of(r->kind());
        for (unsigned i = 0; i < 2; ++i) {
            std::uint64_t word = r->word[2 + i];
            if ((places >> i & 1U) != 0) {
                word &= flight_record::lower_mask;
            } else if ((texts >> i & 1U) == 0) {
                continue;
            }
            if (word != 0 && is_new(word) && !write_text(word)) {
                return false;
            }
        }
    }
    return true;
}

// Returns true if the text was not written yet, or if there is no room to remember that.
bool recording_writer::is_new(std::uint64_t word) noexcept {
    std::size_t at = (word * 0x9e3779b97f4a7c15U) >> 52U;
    static_assert(writer_memory::texts == std::size_t(1) << 12U);
    for (int probe = 0; probe < 16; ++probe, at = (at + 1) % writer_memory::texts) {
        std::uint64_t& seen = memory_.seen[at];
        if (seen == word) {
            return false;
        }
        if (seen == 0) {
            seen = word;
            return true;
        }
    }
    return true;
}

bool recording_writer::write_text(std::uint64_t word) noexcept {
    if (word > flight_record::lower_mask) {
        char copy[name_table::longest];
        const name_table* const names = flight_recorder::names();
        const std::size_t size =
            names == nullptr ? 0 : names->text_of(static_cast<std::uint32_t>(word & flight_record::lower_mask), copy);
        return size == 0 || write_chunk(chunk_kind::text, &word, sizeof word, copy, size);
    }
    const char* const text = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(word));
    return write_chunk(chunk_kind::text, &word, sizeof word, text, ::strnlen(text, longest_recorded_text));
}

}  // namespace roost::inline ROOST_ABI::detail
