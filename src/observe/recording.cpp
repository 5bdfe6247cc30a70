#include <roost/observe/recording.hpp>

#include <roost/observe/detail/recording_format.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace roost::inline ROOST_ABI::observe {

using detail::chunk_header;
using detail::chunk_kind;
using detail::end_counts;
using detail::event_kind;
using detail::event_kinds;
using detail::file_header;
using detail::flight_record;
using detail::longest_recorded_text;
using detail::recording_byte_order;
using detail::recording_magic;
using detail::recording_version;
using detail::thread_header;

std::string_view to_string(recorded_kind kind) noexcept {
    switch (kind) {
        case recorded_kind::none: break;
        case recorded_kind::thread_began: return "thread began";
        case recorded_kind::job_created: return "job created";
        case recorded_kind::job_origin: return "job origin";
        case recorded_kind::job_resumed: return "job resumed";
        case recorded_kind::job_left: return "job left";
        case recorded_kind::job_suspended: return "job suspended";
        case recorded_kind::job_ended: return "job ended";
        case recorded_kind::job_cancelled: return "job cancelled";
        case recorded_kind::frame_woken: return "frame woken";
        case recorded_kind::level_raised: return "level raised";
        case recorded_kind::pool_acquired: return "pool acquired";
        case recorded_kind::pool_released: return "pool released";
        case recorded_kind::pool_waited: return "pool waited";
        case recorded_kind::timer_fired: return "timer fired";
        case recorded_kind::body_stalled: return "body stalled";
        case recorded_kind::worker_parked: return "worker parked";
        case recorded_kind::worker_woke: return "worker woke";
        case recorded_kind::job_awaits: return "job awaits";
    }
    return "?";
}

std::string_view recording::text(std::uint64_t word) const noexcept {
    const auto found = texts_.find(word);
    if (found != texts_.end()) {
        return found->second;
    }
    return word == (flight_record::name_tag | 0) ? "other" : "";
}

std::string recording::place(std::uint64_t word) const {
    const std::string_view file = text(word & flight_record::lower_mask);
    if (file.empty()) {
        return {};
    }
    const std::size_t slash = file.front() == '/' ? file.rfind('/') : std::string_view::npos;
    std::string out(slash == std::string_view::npos ? file : file.substr(slash + 1));
    return out.append(":").append(std::to_string(word >> flight_record::upper_shift));
}

// Every length is checked against what is left of the bytes before it is used.
class recording_parser {
public:
    explicit recording_parser(std::string_view bytes) noexcept : left_(bytes) {}

    recording run() {
        if (read_header()) {
            while (!left_.empty() && !is_over_) {
                read_chunk();
            }
            if (!is_over_) {
                fail("it is truncated: the end is missing");
            }
        }
        sort_events();
        return std::move(out_);
    }

private:
    template <class T>
    [[nodiscard]] bool read(std::string_view& from, T& to) const noexcept {
        if (from.size() < sizeof to) {
            return false;
        }
        std::memcpy(&to, from.data(), sizeof to);
        from.remove_prefix(sizeof to);
        return true;
    }
    // Events with equal times stay in the order of their threads, and of the ring.
    void sort_events() {
        std::vector<std::pair<time_point, std::size_t>> order;
        order.reserve(out_.events_.size());
        for (const recorded_event& e : out_.events_) {
            order.emplace_back(e.time(), order.size());
        }
        std::sort(order.begin(), order.end());
        std::vector<recorded_event> sorted;
        sorted.reserve(order.size());
        for (const auto& [time, at] : order) {
            sorted.push_back(out_.events_[at]);
        }
        out_.events_ = std::move(sorted);
    }
    void fail(std::string_view why) noexcept {
        if (out_.problem_.empty()) {
            out_.problem_ = why;
        }
        is_over_ = true;
    }

    bool read_header() noexcept {
        std::string_view all = left_;
        if (!read(all, header_) || std::memcmp(header_.magic, recording_magic, sizeof header_.magic) != 0) {
            fail("it is no recording of Roost");
        } else if (header_.byte_order != recording_byte_order) {
            fail("it was written on a machine with another byte order");
        } else if (header_.version != recording_version) {
            fail("it has a version that this reader does not know");
        } else if (header_.header_size < sizeof header_ || header_.header_size > left_.size()) {
            fail("its header is damaged");
        } else {
            left_.remove_prefix(header_.header_size);
            out_.process_ = header_.process;
            out_.wall_ns_ = header_.wall_ns;
            out_.end_ns_ = header_.end_ns;
            const auto span = static_cast<double>(header_.end_ticks - header_.start_ticks);
            const double ns = static_cast<double>(header_.end_ns) - static_cast<double>(header_.start_ns);
            ns_per_tick_ = span > 0 && ns > 0 ? ns / span : 1;
        }
        return !is_over_;
    }

    // Returns the time of a stamp; damaged ones are moved into the range of the type.
    [[nodiscard]] std::int64_t ns_of(std::uint64_t ticks) const noexcept {
        const auto from_start = static_cast<double>(static_cast<std::int64_t>(ticks - header_.start_ticks));
        const double ns = from_start * ns_per_tick_;
        constexpr double most = 4e18;
        const auto after = static_cast<std::int64_t>(std::clamp(std::isnan(ns) ? 0 : ns, -most, most));
        std::int64_t sum = 0;
        if (__builtin_add_overflow(header_.start_ns, after, &sum)) {
            return after < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
        }
        return sum;
    }

    void read_chunk() {
        chunk_header h{};
        if (!read(left_, h)) {
            fail("it is truncated in a chunk's header");
            return;
        }
        const bool is_whole = h.size <= left_.size();
        std::string_view body = left_.substr(0, h.size);
        left_.remove_prefix(body.size());
        switch (static_cast<chunk_kind>(h.kind)) {
            case chunk_kind::thread: read_thread(body); break;
            case chunk_kind::text: read_text(body, is_whole); break;
            case chunk_kind::end: read_end(body); break;
            default: break;  // of a later version
        }
        if (!is_whole) {
            fail("it is truncated in a chunk");
        }
    }

    void read_thread(std::string_view body) {
        thread_header h{};
        if (!read(body, h)) {
            fail("a thread's header is too short");
            return;
        }
        const auto index = static_cast<std::uint32_t>(out_.threads_.size());
        out_.threads_.emplace_back(std::string(h.name, ::strnlen(h.name, sizeof h.name)), h.thread, h.lost);
        out_.lost_ += h.lost;
        const std::size_t needed = out_.events_.size() + body.size() / sizeof(flight_record);
        if (needed > out_.events_.capacity()) {
            out_.events_.reserve(std::max(needed, 2 * out_.events_.capacity()));  // there may be very many threads
        }
        flight_record r{};
        while (read(body, r)) {
            if (r.kind() != event_kind::none && static_cast<std::uint8_t>(r.kind()) < event_kinds) {
                out_.events_.emplace_back(r.kind(), index, ns_of(r.ticks()), r);
            }
        }
        if (!body.empty()) {
            fail("a record is too short");
        }
    }

    void read_text(std::string_view body, bool is_whole) {
        std::uint64_t word = 0;
        if (!read(body, word)) {
            fail("a text is too short");
        } else if (is_whole) {
            out_.texts_.try_emplace(word, body.substr(0, longest_recorded_text));
        }
    }

    void read_end(std::string_view body) noexcept {
        end_counts counts{};
        if (!read(body, counts)) {
            fail("the end is too short");
            return;
        }
        out_.lost_ = counts.lost;
        out_.unrecorded_ = counts.unrecorded;
        out_.unnamed_ = counts.unnamed;
        is_over_ = true;
    }

    std::string_view left_;
    file_header header_{};
    double ns_per_tick_ = 1;
    bool is_over_ = false;
    recording out_;
};

recording read_recording(std::string_view bytes) { return recording_parser(bytes).run(); }

}  // namespace roost::inline ROOST_ABI::observe
