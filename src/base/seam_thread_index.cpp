#include <roost/base/atomic.hpp>

#if !defined(ROOST_SEAM_MODEL)

#include <roost/base/assert.hpp>

#include <bit>

#include <pthread.h>

// Small numbers for threads: a bit each, set and cleared by single operations. No lock: a child forked while another thread
// held it would block for ever. In static memory: giving back must not allocate. Never destroyed: threads may end after
// static destructors have run.
//
// The destructor of a POSIX key gives the number back. It runs after those of all C++ thread-locals, each of which may use
// Roost. If another key's destructor uses Roost later, it takes a new number, and the key's next round gives that back.

namespace roost::inline ROOST_ABI::seam {

namespace {

constexpr std::size_t words = 2048;
constexpr std::uint32_t none = UINT32_MAX;

constinit std::atomic<std::uint64_t> used[words] = {};
constinit thread_local std::uint32_t own_index = none;

std::uint32_t take() noexcept {
    for (std::size_t word = 0; word < words; ++word) {
        std::uint64_t seen = used[word].load(std::memory_order_relaxed);
        while (seen != ~std::uint64_t(0)) {
            const auto bit = static_cast<unsigned>(std::countr_one(seen));
            if (used[word].compare_exchange_weak(seen, seen | std::uint64_t(1) << bit, std::memory_order_seq_cst)) {
                return static_cast<std::uint32_t>(word * 64 + bit);
            }
        }
    }
    detail::panic("there are more than 131072 threads at once; Roost numbers no more: start fewer threads");
}

void give_back(void* /*of the key*/) noexcept {
    const std::uint32_t index = own_index;
    if (index != none) {
        own_index = none;
        used[index / 64].fetch_and(~(std::uint64_t(1) << index % 64), std::memory_order_seq_cst);
    }
}

// The key plus one; 0 before it is created and after the program or plug-in has begun to end.
constinit std::atomic<std::uint64_t> key{0};

std::uint64_t make_key() noexcept {
    pthread_key_t fresh{};
    if (pthread_key_create(&fresh, give_back) != 0) {
        return 0;
    }
    std::uint64_t seen = 0;
    if (!key.compare_exchange_strong(seen, std::uint64_t(fresh) + 1, std::memory_order_seq_cst)) {
        pthread_key_delete(fresh);
        return seen;
    }
    return std::uint64_t(fresh) + 1;
}

// Called in a forked child, which has one thread: the numbers of the others are free there.
void keep_own_only() noexcept {
    for (std::atomic<std::uint64_t>& word : used) {
        word.store(0, std::memory_order_relaxed);
    }
    if (own_index != none) {
        used[own_index / 64].store(std::uint64_t(1) << own_index % 64, std::memory_order_relaxed);
    }
}

[[gnu::constructor]] void prepare() noexcept {
    static_cast<void>(make_key());
    pthread_atfork(nullptr, nullptr, keep_own_only);
}

[[gnu::destructor]] void end() noexcept {
    if (const std::uint64_t made = key.exchange(0, std::memory_order_seq_cst); made != 0) {
        pthread_key_delete(static_cast<pthread_key_t>(made - 1));
    }
}

[[gnu::cold, gnu::noinline]] std::uint32_t find_index() noexcept {
    own_index = take();
    std::uint64_t made = key.load(std::memory_order_seq_cst);
    if (made == 0) {
        made = make_key();  // first use before static initialisation, or while the program ends
    }
    if (made != 0) {
        pthread_setspecific(static_cast<pthread_key_t>(made - 1), &own_index);
    }
    return own_index;
}

}  // namespace

std::uint32_t thread_index() noexcept {
    const std::uint32_t known = own_index;
    return known != none ? known : find_index();
}

}  // namespace roost::inline ROOST_ABI::seam

#endif  // !ROOST_SEAM_MODEL
