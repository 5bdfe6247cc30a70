#include <roost/base/reason.hpp>

#include <memory>

// id  operation              order    pairs  carries                                          fails in
// R1  copy: fetch_add        relaxed  -      nothing: the copier already holds a reference    (floor)
// R2  destroy: fetch_sub     acq_rel  R2     every holder's reads end before the record goes  reason_model: last_holder

namespace roost::inline ROOST_ABI {

using namespace seam;

// record is all that a kind-only reason has; full_record has the rest.
struct alignas(void*) reason::record {  // aligned: a caller that keeps a reason in a word uses its low bits
    reason_kind kind;
    bool is_static;
};
struct reason::full_record : record {
    explicit full_record(reason_kind k) noexcept : record{k, false} {}
    atomic<std::uint32_t> holders{1};
    roost::site where;
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

reason::reason(reason_kind kind, std::string_view text, roost::site where) : reason(kind, text, std::any(), where) {}

reason::reason(reason_kind kind, std::string_view text, std::any payload, roost::site where) {
    auto made = std::make_unique<full_record>(kind);
    made->where = where;
    made->payload = std::move(payload);
    made->text = text;
    record_ = made.release();
}

void reason::share() const noexcept {
    if (!record_->is_static) {
        static_cast<full_record*>(record_)->holders.fetch_add(1, mo::relaxed);  // R1
    }
}

void reason::drop() noexcept {
    if (record_->is_static) {
        return;
    }
    auto* mine = static_cast<full_record*>(record_);
    if (mine->holders.fetch_sub(1, mo::acq_rel) == 1) {  // R2
        delete mine;
    }
}

const reason::full_record* reason::full() const noexcept {
    return record_ == nullptr || record_->is_static ? nullptr : static_cast<const full_record*>(record_);
}

reason reason::plain_kind(reason_kind kind) noexcept {
    // Constant-initialised and never destroyed: no allocation, no counting, no initialisation guard.
    static constinit record all[] = {
        {reason_kind::none, true},      {reason_kind::requested, true}, {reason_kind::timeout, true},
        {reason_kind::failure, true},   {reason_kind::shutdown, true},  {reason_kind::dropped, true},
        {reason_kind::lost_race, true}, {reason_kind::closed, true},
    };
    return reason(&all[static_cast<std::size_t>(kind)]);
}

reason_kind reason::kind() const noexcept { return record_ == nullptr ? reason_kind::none : record_->kind; }
std::string_view reason::text() const noexcept { return full() == nullptr ? std::string_view() : full()->text; }
roost::site reason::site() const noexcept { return full() == nullptr ? roost::site() : full()->where; }
std::string_view reason::origin() const noexcept { return full() == nullptr ? std::string_view() : full()->origin; }
const std::any* reason::payload() const noexcept {
    return full() == nullptr || !full()->payload.has_value() ? nullptr : &full()->payload;
}

std::string reason::to_string() const {
    std::string out(roost::to_string(kind()));
    if (!text().empty()) {
        out.append(": ").append(text());
    }
    std::string place = site().is_known() ? site().to_string() : std::string();
    if (!origin().empty()) {
        place.append(place.empty() ? "at '" : ", at '").append(origin()).append("'");
    }
    if (!place.empty()) {
        out.append(" (").append(place).append(")");
    }
    return out;
}

reason reason::at_origin(std::string_view name) const {
    if (record_ == nullptr || !origin().empty()) {
        return *this;
    }
    reason copy(kind(), text(), payload() == nullptr ? std::any() : *payload(), site());
    static_cast<full_record*>(copy.record_)->origin = name;
    return copy;
}

}  // namespace roost::inline ROOST_ABI
