// Orders G1 to G3: sync/detail/holdings.hpp.

#include <roost/sync/detail/holdings.hpp>

#include <roost/base/format_duration.hpp>
#include <roost/exec/detail/observing.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

namespace roost::inline ROOST_ABI::detail {

constinit atomic<bool> holdings::on{false};

namespace {

// The holdings of the primitives whose addresses map to this stripe. It has no destructor: guards may be destroyed later.
class alignas(64) holding_stripe {
public:
    constexpr holding_stripe() noexcept = default;

    void lock() noexcept { lock_.lock(); }
    void unlock() noexcept { lock_.unlock(); }
    [[nodiscard]] holding* begin() const noexcept { return items_; }
    [[nodiscard]] holding* end() const noexcept { return items_ + size_; }
    [[nodiscard]] holding* find(const void* of, const void* handle) const noexcept {
        return std::find_if(begin(), end(), [=](const holding& h) { return h.of == of && h.handle == handle; });
    }
    // Returns false without memory for it.
    [[nodiscard]] bool add(const holding& one) noexcept {
        if (size_ == capacity_ && !grow()) {
            return false;
        }
        items_[size_++] = one;
        return true;
    }
    void erase(holding* at) noexcept { *at = items_[--size_]; }
    // Moves any holding to `one`. Returns false if none is left.
    [[nodiscard]] bool take(holding& one) noexcept {
        if (size_ == 0) {
            return false;
        }
        one = items_[--size_];
        return true;
    }

private:
    [[nodiscard]] bool grow() noexcept {
        const std::size_t more = capacity_ == 0 ? 8 : capacity_ * 2;
        auto* bigger = static_cast<holding*>(::operator new(more * sizeof(holding), std::nothrow));
        if (bigger == nullptr) {
            return false;
        }
        std::uninitialized_value_construct_n(bigger, more);
        std::copy(begin(), end(), bigger);
        ::operator delete(items_);
        items_ = bigger;
        capacity_ = more;
        return true;
    }

    small_mutex lock_;
    holding* items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

constexpr std::size_t holding_stripes = 256;
constinit holding_stripe all_holdings[holding_stripes];
constinit small_mutex switching_owners;
constinit atomic<std::int64_t> last_stamp{0};

holding_stripe& holdings_at(const void* of) noexcept {
    const std::uint64_t mixed = (reinterpret_cast<std::uintptr_t>(of) >> 4U) * 0x9E3779B97F4A7C15U;
    return all_holdings[(mixed >> 32U) % holding_stripes];
}

void let_go(const taker& by) noexcept {
    if (by.job != nullptr) {
        by.functions->release(by.job);
    }
}

struct taking_tag;

}  // namespace

taker& holdings::taking() noexcept { return thread_value<taking_tag, taker>::get(); }

bool holdings::track(bool want) noexcept {
    switching_owners.lock();
    const bool before = on.load(mo::seq_cst);  // G2
    on.store(want, mo::seq_cst);               // G2
    observing::set(observing::by::owners, want);
    for (holding_stripe& s : all_holdings) {
        holding one;
        for (bool more = !want; more;) {
            s.lock();
            more = s.take(one);
            s.unlock();
            if (more) {
                let_go(one.by);
            }
        }
    }
    switching_owners.unlock();
    return before;
}

std::int64_t holdings::stamp() noexcept {
    const std::int64_t time = now().time_since_epoch().count();
    std::int64_t last = last_stamp.load(mo::seq_cst);  // G3
    std::int64_t mine = 0;
    do {
        mine = std::max(time, last + 1);
    } while (!last_stamp.compare_exchange_weak(last, mine, mo::seq_cst, mo::seq_cst));  // G3
    return mine;
}

void holdings::took(const void* of, const void* handle, std::uint32_t n, total_function total) noexcept {
    holding one{.of = of, .handle = handle, .permits = n, .is_sure = true, .by = taking()};
    one.is_sure = one.by.job != nullptr;
    one.stamp = stamp();
    if (one.is_sure) {
        one.by.functions->retain(one.by.job);
    }
    holding_stripe& s = holdings_at(of);
    s.lock();
    one.total = total(of);
    const bool is_kept = on.load(mo::seq_cst) && s.add(one);  // G2
    s.unlock();
    if (!is_kept) {
        let_go(one.by);
    }
}

void holdings::gave(const void* of, const void* handle) noexcept {
    taker by;
    holding_stripe& s = holdings_at(of);
    s.lock();
    if (holding* const at = s.find(of, handle); at != s.end()) {
        by = at->by;
        s.erase(at);
    }
    s.unlock();
    let_go(by);
}

void holdings::moved(const void* of, const void* from, const void* to) noexcept {
    holding_stripe& s = holdings_at(of);
    s.lock();
    if (holding* const at = s.find(of, from); at != s.end()) {
        at->handle = to;
        at->is_sure = false;
    }
    s.unlock();
}

void holdings::raise_total(const void* of, std::uint32_t total) noexcept {
    holding_stripe& s = holdings_at(of);
    s.lock();
    for (holding& h : s) {
        if (h.of == of) {
            h.total = std::max(h.total, total);
        }
    }
    s.unlock();
}

void holdings::visit(const void* of, void* context, look_function look) noexcept {
    holding_stripe& s = holdings_at(of);
    s.lock();
    for (const holding& h : s) {
        if (h.of == of) {
            look(context, h);
        }
    }
    s.unlock();
}

std::size_t holdings::describe(const void* of, char* text, std::size_t size) noexcept {
    struct oldest {
        bounded_text text;
        char* at;
        std::size_t size;
        std::int64_t stamp = 0;
    } found{{text, size}, text, size};
    holdings::visit(of, &found, [](void* context, const holding& h) noexcept {
        auto& f = *static_cast<oldest*>(context);
        if (f.stamp != 0 && f.stamp < h.stamp) {
            return;
        }
        f.stamp = h.stamp;
        f.text = bounded_text(f.at, f.size);
        f.text << "held " << std::max(duration(0), now() - time_point(duration(h.stamp)));
        if (h.by.job == nullptr) {
            return;
        }
        f.text << (h.is_sure ? " by job" : ", taken by job");
        if (const std::string_view name = h.by.functions->name(h.by.job); !name.empty()) {
            f.text << " '" << name.substr(0, 60) << "'";
        }
        f.text << h.by.at;
    });
    return found.text.length();
}

bounded_text& bounded_text::operator<<(std::string_view more) noexcept {
    length_ += more.copy(text_ + length_, size_ - length_);
    return *this;
}

bounded_text& bounded_text::operator<<(std::uint64_t number) noexcept {
    char digits[24];
    return *this << std::string_view(digits, static_cast<std::size_t>(std::snprintf(
                                                 digits, sizeof digits, "%llu", static_cast<unsigned long long>(number))));
}

bounded_text& bounded_text::operator<<(site where) noexcept {
    try {
        return where.is_known() ? *this << " (" << where.to_string() << ")" : *this;
    } catch (...) {
        return *this;  // no memory for the text
    }
}

bounded_text& bounded_text::operator<<(duration d) noexcept {
    try {
        return *this << format_duration(d);
    } catch (...) {
        return *this << "some time";
    }
}

}  // namespace roost::inline ROOST_ABI::detail
