#include <roost/task/detail/job/job_extras.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/failure_sink.hpp>
#include <roost/task/detail/job/job_core.hpp>

#include <cstdint>
#include <mutex>
#include <new>

namespace roost::inline ROOST_ABI::detail {

// Chains under locks: only failing jobs come here.
class extras_table {
public:
    static void add(job_extras& e) noexcept {
        bucket& b = of(*e.of_);
        const std::lock_guard guard(b.lock);
        e.next_ = b.first;
        b.first = &e;
    }
    static job_extras* find(const job_core& job) noexcept {
        bucket& b = of(job);
        const std::lock_guard guard(b.lock);
        return *place_of(b, job);
    }
    static job_extras* remove(const job_core& job) noexcept {
        bucket& b = of(job);
        const std::lock_guard guard(b.lock);
        job_extras** at = place_of(b, job);
        job_extras* found = *at;
        *at = found->next_;
        return found;
    }

private:
    struct bucket {
        small_mutex lock;
        job_extras* first = nullptr;
    };
    static job_extras** place_of(bucket& b, const job_core& job) noexcept {
        job_extras** at = &b.first;
        while ((*at)->of_ != &job) {
            at = &(*at)->next_;
        }
        return at;
    }
    static bucket& of(const job_core& job) noexcept {
        constexpr unsigned low_bits = 4;  // the same in all blocks
        return buckets[(reinterpret_cast<std::uintptr_t>(&job) >> low_bits) * 0x9e3779b97f4a7c15ULL >> 56U];
    }
    static bucket buckets[256];
};

constinit extras_table::bucket extras_table::buckets[256];

job_extras* job_extras::make(const job_core& of, bool& has) noexcept {
    if (has) {
        return find(of);
    }
    auto* made = new (std::nothrow) job_extras(of);
    if (made != nullptr) {
        extras_table::add(*made);
        has = true;
    }
    return made;
}

job_extras* job_extras::find(const job_core& of) noexcept { return extras_table::find(of); }

void job_extras::drop(const job_core& of) noexcept { delete extras_table::remove(of); }

namespace {
constexpr std::size_t most_suppressed = 100;
constexpr std::size_t most_notes = 100;
}  // namespace

void job_core::add_suppressed(std::exception_ptr error) noexcept {
    try {
        if (job_extras* more = job_extras::make(*this, has_extras_);
            more != nullptr && more->suppressed.size() < most_suppressed) {
            more->suppressed.push_back(error);
            return;
        }
    } catch (const std::bad_alloc&) {}
    report_failure("cleanup or another child of job", name(), made_at(), std::move(error));
}

std::size_t job_core::suppressed_so_far() const noexcept { return job_extras::find(*this)->suppressed.size(); }

void job_core::carry(const std::exception_ptr& thrown, std::exception_ptr other) noexcept {
    failure_list one;
    try {
        one.add(other);
    } catch (const std::bad_alloc&) {
        report_failure("cleanup or another child of job", name(), made_at(), std::move(other));
    }
    carry(thrown, one);
}

void job_core::carry(const std::exception_ptr& thrown, const failure_list& others) noexcept {
    if (others.is_empty()) {
        return;
    }
    try {
        if (job_extras* more = job_extras::make(*this, has_extras_)) {
            report_further(more->carried.add(thrown, others));
            return;
        }
    } catch (const std::bad_alloc&) {}
    report_further(others);
}

void job_core::report_further(const failure_list& failures) const noexcept {
    failures.for_each([this](const std::exception_ptr& other) {
        report_failure("cleanup or another child of job", name(), made_at(), other);
    });
}

failure_list job_core::take_carried(const std::exception_ptr& thrown) noexcept {
    return has_extras_ ? job_extras::find(*this)->carried.take(thrown) : failure_list();
}

failure_list job_core::carried(const std::exception_ptr& thrown) const noexcept {
    return has_extras_ ? job_extras::find(*this)->carried.beside(thrown) : failure_list();
}

// If there is no memory, they stay with the job.
failure_list job_core::take_beside(const std::exception_ptr& thrown, std::size_t n) noexcept {
    failure_list taken = take_carried(thrown);
    if (suppressed_count() > n) {
        std::vector<std::exception_ptr>& all = job_extras::find(*this)->suppressed;
        try {
            while (all.size() > n) {
                taken.add(all[n]);
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(n));
            }
        } catch (const std::bad_alloc&) {}
    }
    return taken;
}

// Called when the body has ended: keeps what travelled with the error it ended with, drops what travelled with those it
// caught.
void job_core::settle_carried() noexcept {
    job_extras& more = *job_extras::find(*this);
    if (outcome_link().state() == ending::threw) {
        more.beside = more.carried.take(outcome_link().error());
    }
    for (std::exception_ptr& other : more.suppressed) {
        try {
            more.beside.add(other);
        } catch (const std::bad_alloc&) {
            report_failure("cleanup or another child of job", name(), made_at(), std::move(other));
        }
    }
    more.suppressed.clear();
    more.carried.clear();
}

failure_list job_core::suppressed() const noexcept { return has_extras_ ? job_extras::find(*this)->beside : failure_list(); }

std::exception_ptr job_core::own_error() const noexcept {
    return outcome_link().state() == ending::threw ? outcome_link().error() : nullptr;
}

const std::vector<std::string>& job_core::notes() const noexcept {
    static const std::vector<std::string> none;
    return has_extras_ ? job_extras::find(*this)->notes : none;
}

void job_core::add_note(std::string text) noexcept {
    try {
        if (job_extras* more = job_extras::make(*this, has_extras_)) {
            if (more->notes.size() == most_notes) {
                more->notes.erase(more->notes.begin());
            }
            more->notes.push_back(std::move(text));
        }
    } catch (const std::bad_alloc&) {  // notes are best effort
    }
}

void add_note_at(job_core& to, const std::string& text, site where) noexcept {
    try {
        to.add_note(text + " (" + where.to_string() + ")");
    } catch (const std::bad_alloc&) {  // notes are best effort
    }
}

}  // namespace roost::inline ROOST_ABI::detail
