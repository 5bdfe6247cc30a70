#include <roost/base/reason.hpp>

#include <array>
#include <new>

// id  operation              order    pairs  carries                                          fails in
// R1  copy: fetch_add        relaxed  -      nothing: the copier already holds a reference    (floor)
// R2  destroy: fetch_sub     acq_rel  R2     every holder's reads end before the record goes  reason_model: last_holder

namespace roost::inline ROOST_ABI {

struct reason::record {
    atomic<std::uint32_t> holders{1};
    bool is_static = false;
    reason_kind kind = reason_kind::none;
    site where;
    std::string text;
    std::string origin;
    std::any payload;
};

std::string_view to_string(reason_kind kind) noexcept {
    switch (kind) {
        case reason_kind::none: return "none";
        case reason_kind::requested: return "requested";
        case reason_kind::timeout: return "timeout";
        case reason_kind::failure: return "failure";
        case reason_kind::shutdown: return "shutdown";
        case reason_kind::dropped: return "dropped";
        case reason_kind::lost_race: return "lost race";
        case reason_kind::closed: return "closed";
    }
    return "unknown";
}

reason::reason(reason_kind kind, std::string_view text, site where) : reason(kind, text, std::any(), where) {}

reason::reason(reason_kind kind, std::string_view text, std::any payload, site where) : record_(new record) {
    record_->kind = kind;
    record_->where = where;
    record_->payload = std::move(payload);
    try {
        record_->text = text;
    } catch (...) {
        delete record_;
        throw;
    }
}

reason::reason(const reason& other) noexcept : record_(other.record_) {
    if (record_ != nullptr && !record_->is_static) {
        record_->holders.fetch_add(1, mo::relaxed);  // R1
    }
}

reason::~reason() {
    if (record_ != nullptr && !record_->is_static && record_->holders.fetch_sub(1, mo::acq_rel) == 1) {  // R2
        delete record_;
    }
}

reason reason::plain_kind(reason_kind kind) noexcept {
    // One immortal record per kind: no allocation, no counting.
    struct table {
        std::array<record, 8> records;
        table() {
            for (std::size_t i = 0; i < records.size(); ++i) {
                records[i].is_static = true;
                records[i].kind = static_cast<reason_kind>(i);
            }
        }
    };
    alignas(table) static std::array<unsigned char, sizeof(table)> storage;
    static auto* all = new (storage.data()) table;
    return reason(&all->records[static_cast<std::size_t>(kind)]);
}

reason_kind reason::kind() const noexcept { return record_ == nullptr ? reason_kind::none : record_->kind; }
std::string_view reason::text() const noexcept { return record_ == nullptr ? std::string_view() : record_->text; }
site reason::where() const noexcept { return record_ == nullptr ? site() : record_->where; }
std::string_view reason::origin() const noexcept { return record_ == nullptr ? std::string_view() : record_->origin; }
const std::any* reason::payload() const noexcept {
    return record_ == nullptr || !record_->payload.has_value() ? nullptr : &record_->payload;
}

std::string reason::to_string() const {
    std::string out(roost::to_string(kind()));
    if (!text().empty()) {
        out.append(": ").append(text());
    }
    std::string place = where().is_known() ? where().to_string() : std::string();
    if (!origin().empty()) {
        place.append(place.empty() ? "at '" : ", at '").append(origin()).append("'");
    }
    if (!place.empty()) {
        out.append(" (").append(place).append(")");
    }
    return out;
}

reason reason::at_origin(std::string_view name) const {
    if (record_ == nullptr || !record_->origin.empty()) {
        return *this;
    }
    reason copy(kind(), text(), record_->payload, where());
    copy.record_->origin = name;
    return copy;
}

}  // namespace roost::inline ROOST_ABI
