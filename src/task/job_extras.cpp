#include <roost/task/detail/job_extras.hpp>

#include <roost/base/atomic.hpp>

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

}  // namespace roost::inline ROOST_ABI::detail
