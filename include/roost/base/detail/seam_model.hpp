#pragma once

// The model back end of the seam: hands every operation to the explorer (testing/explore.hpp), which decides which thread
// runs next and which value a load returns. base/atomic.hpp has the contract of each name.

#include <roost/base/detail/seam_model_engine.hpp>

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::seam {

template <class T>
class atomic {
public:
    constexpr atomic() noexcept : atomic(T{}) {}
    constexpr explicit atomic(T initial) noexcept : word_(pack(initial)) {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->construct(word_, detail::model_kind::word);
        }
    }
    constexpr ~atomic() {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->destroy(word_);
        }
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    static_assert(std::atomic<T>::is_always_lock_free, "state words must fit what the processor handles without a lock");

    [[nodiscard]] T load(std::memory_order order, detail::model_site at = detail::model_site::current()) const noexcept {
        return unpack(detail::active_engine == nullptr ? word_.value : detail::active_engine->load(word_, order, at));
    }
    void store(T desired, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        if (detail::active_engine == nullptr) {
            word_.value = pack(desired);
        } else {
            detail::active_engine->store(word_, pack(desired), order, at);
        }
    }
    T exchange(T desired, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        return update(detail::model_op::exchange, order, at, [&](T) { return desired; });
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               detail::model_site at = detail::model_site::current()) noexcept {
        return compare_exchange(expected, desired, success, failure, true, at);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                                 detail::model_site at = detail::model_site::current()) noexcept {
        return compare_exchange(expected, desired, success, failure, false, at);
    }
    T fetch_add(T operand, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        return update(detail::model_op::fetch_add, order, at, [&](T v) { return static_cast<T>(v + operand); });
    }
    T fetch_sub(T operand, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        return update(detail::model_op::fetch_sub, order, at, [&](T v) { return static_cast<T>(v - operand); });
    }
    T fetch_or(T operand, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        return update(detail::model_op::fetch_or, order, at, [&](T v) { return static_cast<T>(v | operand); });
    }
    T fetch_and(T operand, std::memory_order order, detail::model_site at = detail::model_site::current()) noexcept {
        return update(detail::model_op::fetch_and, order, at, [&](T v) { return static_cast<T>(v & operand); });
    }

    [[nodiscard]] detail::model_word& model() noexcept { return word_; }

private:
    static constexpr std::uint64_t pack(T value) noexcept {
        if constexpr (std::is_enum_v<T>) {
            return static_cast<std::uint64_t>(value);
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<std::uint64_t>(
                static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>>(value));
        } else if constexpr (std::is_pointer_v<T>) {
            // A null pointer may be packed in a constant expression, any other only at run time.
            return value == nullptr ? 0 : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(value));
        } else {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof value);
            return bits;
        }
    }
    static T unpack(std::uint64_t bits) noexcept {
        if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
            return static_cast<T>(bits);
        } else if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<T>(static_cast<std::uintptr_t>(bits));
        } else {
            T value;
            std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
            return value;
        }
    }

    template <class Change>
    T update(detail::model_op op, std::memory_order order, detail::model_site at, Change change) noexcept {
        detail::model_engine* engine = detail::active_engine;
        if (engine == nullptr) {
            const T seen = unpack(word_.value);
            word_.value = pack(change(seen));
            return seen;
        }
        const T seen = unpack(engine->rmw_begin(word_, op, 0, at));
        engine->rmw_commit(word_, pack(change(seen)), order);
        return seen;
    }

    bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak,
                          detail::model_site at) noexcept {
        detail::model_engine* engine = detail::active_engine;
        const std::uint64_t wanted = pack(expected);
        const std::uint64_t seen =
            engine == nullptr ? word_.value : engine->rmw_begin(word_, detail::model_op::compare_exchange, wanted, at);
        if (seen != wanted || (weak && engine != nullptr && engine->fails_spuriously())) {
            if (engine != nullptr) {
                engine->rmw_fail(word_, failure);
            }
            expected = unpack(seen);
            return false;
        }
        if (engine != nullptr) {
            engine->rmw_commit(word_, pack(desired), success);
        } else {
            word_.value = pack(desired);
        }
        return true;
    }

    detail::model_word word_;
};

template <class T>
class plain {
public:
    constexpr plain() noexcept : plain(T{}) {}
    constexpr explicit plain(unset_t) noexcept : plain(T{}) {}
    constexpr explicit plain(T initial) noexcept : value_(initial) {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->construct(cell_, detail::model_kind::cell);
        }
    }
    constexpr ~plain() {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->destroy(cell_);
        }
    }
    plain(const plain&) = delete;
    plain& operator=(const plain&) = delete;

    [[nodiscard]] T get(detail::model_site at = detail::model_site::current()) const noexcept {
        if (detail::active_engine != nullptr) {
            detail::active_engine->plain_read(cell_, at);
        }
        return value_;
    }
    void set(T value, detail::model_site at = detail::model_site::current()) noexcept {
        if (detail::active_engine != nullptr) {
            detail::active_engine->plain_write(cell_, at);
        }
        value_ = value;
    }

private:
    detail::model_object cell_;
    T value_;
};

// --- blocking on a word ------------------------------------------------------------------------------------------------

void wait_on(atomic<std::uint32_t>& word, std::uint32_t expected,
             detail::model_site at = detail::model_site::current()) noexcept;
bool wait_on_until(atomic<std::uint32_t>& word, std::uint32_t expected, time_point deadline,
                   detail::model_site at = detail::model_site::current()) noexcept;
void wait_briefly(atomic<std::uint32_t>& word, std::uint32_t expected,
                  detail::model_site at = detail::model_site::current()) noexcept;
void wake_on(const atomic<std::uint32_t>* word, int count, detail::model_site at = detail::model_site::current()) noexcept;

// --- locks: one step to take, one to give back -------------------------------------------------------------------------

class small_mutex {
public:
    constexpr small_mutex() noexcept {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->construct(object_, detail::model_kind::lock);
        }
    }
    constexpr ~small_mutex() {
        if (!std::is_constant_evaluated() && detail::active_engine != nullptr) {
            detail::active_engine->destroy(object_);
        }
    }
    small_mutex(const small_mutex&) = delete;
    small_mutex& operator=(const small_mutex&) = delete;

    void lock(detail::model_site at = detail::model_site::current()) noexcept;
    [[nodiscard]] bool try_lock(detail::model_site at = detail::model_site::current()) noexcept;
    void unlock(detail::model_site at = detail::model_site::current()) noexcept;

private:
    friend class os_condvar;
    detail::model_object object_;
    bool held_outside_ = false;  // only for use outside an execution
};

class os_mutex : public small_mutex {};

class os_condvar {
public:
    constexpr os_condvar() noexcept = default;
    os_condvar(const os_condvar&) = delete;
    os_condvar& operator=(const os_condvar&) = delete;

    void wait(os_mutex& held, detail::model_site at = detail::model_site::current());
    bool wait_until(os_mutex& held, time_point deadline, detail::model_site at = detail::model_site::current());
    void notify_one(detail::model_site at = detail::model_site::current()) noexcept;

private:
    detail::model_object object_;
};

// --- threads -------------------------------------------------------------------------------------------------------------

class thread {
public:
    thread() noexcept = default;
    template <class Body>
    explicit thread(Body body, detail::model_site at = detail::model_site::current())
        : id_(start(run<Body>, new Body(std::move(body)), at)) {}
    thread(thread&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
    thread& operator=(thread&& other) noexcept {
        end_if_joinable();
        id_ = std::exchange(other.id_, 0);
        return *this;
    }
    ~thread() { end_if_joinable(); }

    [[nodiscard]] bool joinable() const noexcept { return id_ != 0; }
    void join(detail::model_site at = detail::model_site::current());
    // Every thread of a model ends: joins it, or returns false at once.
    [[nodiscard]] bool join_until(time_point deadline, detail::model_site at = detail::model_site::current()) {
        if (deadline == time_point::min()) {
            return false;
        }
        join(at);
        return true;
    }
    void detach() noexcept { id_ = 0; }

private:
    template <class Body>
    static void run(void* argument) {
        Body* body = static_cast<Body*>(argument);
        struct owner {
            Body* held;
            ~owner() { delete held; }
        } keep{body};
        (*body)();
    }
    static std::uint32_t start(void (*run)(void*), void* argument, detail::model_site at);
    void end_if_joinable() noexcept;

    std::uint32_t id_ = 0;
};

[[nodiscard]] std::uint32_t thread_index() noexcept;

template <class Tag, class T>
class thread_value {
public:
    [[gnu::noinline]] static T& get() noexcept {
        if (detail::active_engine == nullptr) {
            static T outside{};
            return outside;
        }
        static const char key = 0;
        void*& slot = detail::active_engine->thread_slot(&key, [](void* p) { delete static_cast<T*>(p); });
        if (slot == nullptr) {
            slot = new T{};
        }
        return *static_cast<T*>(slot);
    }
};

void spin_hint(detail::model_site at = detail::model_site::current()) noexcept;
void yield_thread(detail::model_site at = detail::model_site::current()) noexcept;
[[nodiscard]] inline unsigned hardware_threads() noexcept { return 2; }

// --- time, chance, memory ------------------------------------------------------------------------------------------------

[[nodiscard]] time_point now(detail::model_site at = detail::model_site::current()) noexcept;
[[nodiscard]] time_point coarse_now(detail::model_site at = detail::model_site::current()) noexcept;
// Always 0: one scheduling point less.
[[nodiscard]] inline std::uint64_t ticks() noexcept { return 0; }
[[nodiscard]] std::uint64_t random_u64() noexcept;
// Does nothing: the explorer decides what is drawn.
inline std::uint64_t swap_random_state(std::uint64_t /*state*/) noexcept { return 0; }

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t),
                             detail::model_site at = detail::model_site::current());
void deallocate(void* memory, std::size_t size, std::size_t alignment = alignof(std::max_align_t),
                detail::model_site at = detail::model_site::current()) noexcept;
[[nodiscard]] void* allocate_frame(std::size_t size, detail::model_site at = detail::model_site::current());
void deallocate_frame(void* memory, std::size_t size, detail::model_site at = detail::model_site::current()) noexcept;

// --- asymmetric barrier: heavy makes every other thread pass a full fence at that point -----------------------------------

[[nodiscard]] inline bool has_heavy_barrier() noexcept { return true; }
inline void light_barrier() noexcept {}
void heavy_barrier(detail::model_site at = detail::model_site::current()) noexcept;

}  // namespace roost::inline ROOST_ABI::seam
