// Ground of the compiler probe: accounting of object lifetimes, a run queue, a minimal lazy task, and a runner that
// gives every case its own process. It uses nothing of the library, so that a failure here judges the compiler alone.
//
// A case file defines PROBE_GROUP, includes this header and writes cases:
//   PROBE_CORO(name) { ...coroutine body... }     driven to completion; all tracked objects must be gone afterwards
//   PROBE_CASE(name) { ...ordinary body... }      for cases that start, destroy and time coroutines themselves
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace probe {

// ---- verdict -------------------------------------------------------------------------------------------------------

// Keeps the first message: what comes after the first broken promise is noise.
void fail(const char* file, int line, const char* what) noexcept;
bool failed() noexcept;
// One short figure that the matrix prints beside the verdict, for example "72 B".
void fact(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
// Ends the case at once with the verdict so far: for cases that would otherwise run into a stack overflow.
[[noreturn]] void finish_now() noexcept;

#define PROBE_EXPECT(...) ((__VA_ARGS__) ? void() : ::probe::fail(__FILE__, __LINE__, #__VA_ARGS__))

// ---- tracked objects -----------------------------------------------------------------------------------------------

struct counts {
    long built = 0, destroyed = 0, copied = 0, moved = 0, frames = 0;
};
inline counts seen;

// Knows its own address, so a bitwise copy made by the compiler is noticed when it is used or destroyed, and writes its
// state through volatile, so that no optimiser removes the store in the destructor as dead.
class tracked {
public:
    tracked(int value = 0) noexcept : value_(value) { open(); }
    tracked(const tracked& other) : value_(other.value()) {
        if (copies_until_throw > 0 && --copies_until_throw == 0) throw copy_failed{};
        ++seen.copied;
        open();
    }
    tracked(tracked&& other) : value_(other.value()) {
        if (moves_until_throw > 0 && --moves_until_throw == 0) throw move_failed{};
        ++seen.moved;
        other.value_ = -1;
        open();
    }
    tracked& operator=(const tracked& other) noexcept { return value_ = other.value(), *this; }
    tracked& operator=(tracked&& other) noexcept { return value_ = std::exchange(other.value_, -1), *this; }
    ~tracked() {
        check("destroyed an object that is not alive at this address");
        state_ = dead;
        ++seen.destroyed;
    }

    int value() const noexcept { return check("used an object that is not alive at this address"), value_; }
    operator int() const noexcept { return value(); }
    tracked& self() noexcept { return check("called a member of a dead object"), *this; }

    struct copy_failed {};
    struct move_failed {};
    static inline int copies_until_throw = 0;
    static inline int moves_until_throw = 0;

private:
    static constexpr unsigned alive = 0x600dcafe, dead = 0xdeadbeef;
    void open() noexcept {
        self_ = this;
        state_ = alive;
        ++seen.built;
    }
    void check(const char* what) const noexcept {
        if (state_ != alive || self_ != this) fail("tracked", 0, what);
    }
    int value_;
    volatile unsigned state_;
    const tracked* volatile self_;
};

// ---- run queue: a suspended case is resumed from here, never inside await_suspend ----------------------------------

void ready(std::coroutine_handle<> handle) noexcept;
void run_until_idle();

// Suspends and comes back through the run queue.
struct hop {
    hop() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { ready(self); }
    void await_resume() const noexcept {}
};

// Suspends for ever; the case destroys the frame or resumes the handle itself.
inline std::coroutine_handle<> parked;
struct park {
    park() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const noexcept { parked = self; }
    void await_resume() const noexcept {}
};

// ---- task ----------------------------------------------------------------------------------------------------------

template <class T>
class task;

namespace detail {

struct final_awaiter {
    final_awaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
        return self.promise().continuation;
    }
    void await_resume() const noexcept {}
};

struct promise_base {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr error;

    static void* operator new(std::size_t size) {
        void* memory = std::malloc(size);
        if (memory == nullptr) std::abort();
        ++seen.frames;
        return memory;
    }
    static void operator delete(void* memory) noexcept { --seen.frames, std::free(memory); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
};

// Holds any result without being an aggregate.
template <class T>
class slot {
public:
    slot() noexcept {}
    ~slot() {
        if (full_) get().~T();
    }
    template <class U>
    void set(U&& value) {
        new (static_cast<void*>(bytes_)) T(std::forward<U>(value)), full_ = true;
    }
    T& get() noexcept { return *reinterpret_cast<T*>(bytes_); }

private:
    alignas(T) unsigned char bytes_[sizeof(T)];
    bool full_ = false;
};

template <class T>
struct promise : promise_base {
    slot<T> result;
    task<T> get_return_object() noexcept;
    template <class U = T>
    void return_value(U&& value) {
        result.set(std::forward<U>(value));
    }
    T take() { return std::move(result.get()); }
};
template <class T>
struct promise<T&> : promise_base {
    T* result = nullptr;
    task<T&> get_return_object() noexcept;
    void return_value(T& value) noexcept { result = &value; }
    T& take() noexcept { return *result; }
};
template <>
struct promise<void> : promise_base {
    inline task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const noexcept {}
};

} // namespace detail

template <class T = void>
class [[nodiscard]] task {
public:
    using promise_type = detail::promise<T>;
    using handle_type = std::coroutine_handle<promise_type>;

    explicit task(handle_type handle) noexcept : handle_(handle) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    task& operator=(task&&) = delete;
    ~task() {
        if (handle_) handle_.destroy();
    }
    handle_type handle() const noexcept { return handle_; }

    class awaiter {
    public:
        explicit awaiter(handle_type handle) noexcept : handle_(handle) {}
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
            handle_.promise().continuation = self;
            return handle_;
        }
        T await_resume() const {
            if (handle_.promise().error) std::rethrow_exception(std::exchange(handle_.promise().error, nullptr));
            return handle_.promise().take();
        }

    private:
        handle_type handle_;
    };
    awaiter operator co_await() const noexcept { return awaiter(handle_); }

private:
    handle_type handle_;
};

namespace detail {
template <class T>
task<T> promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}
template <class T>
task<T&> promise<T&>::get_return_object() noexcept {
    return task<T&>(std::coroutine_handle<promise>::from_promise(*this));
}
inline task<void> promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}
} // namespace detail

// Starts t and drives the run queue until nothing is ready; true when t reached its end.
template <class T>
bool drive(task<T>& t) {
    t.handle().resume();
    run_until_idle();
    return t.handle().done();
}

// ---- the everyday awaited things of the cases ----------------------------------------------------------------------

// Each suspends once, so that everything that must outlive the suspension lives in the caller's frame.
inline task<int> number(int value) {
    co_await hop();
    co_return value;
}
inline task<tracked> make(int value) {
    co_await hop();
    co_return tracked(value);
}
inline task<bool> truth(bool value) {
    co_await hop();
    co_return value;
}
inline task<void> nothing() { co_await hop(); }
struct boom {};
inline task<int> throwing() {
    co_await hop();
    throw boom{};
    co_return 0;
}

// ---- registration --------------------------------------------------------------------------------------------------

class test_case {
public:
    test_case(const char* group, const char* name, void (*body)()) noexcept;
    const char* group;
    const char* name;
    void (*body)();
    test_case* next = nullptr;
};
void drive_case(task<void> (*body)());

#define PROBE_CASE(case_name)                                                         \
    static void case_name();                                                          \
    static ::probe::test_case case_name##_entry(PROBE_GROUP, #case_name, &case_name); \
    static void case_name()
#define PROBE_CORO(case_name)                                                                                       \
    static ::probe::task<void> case_name();                                                                         \
    static ::probe::test_case case_name##_entry(PROBE_GROUP, #case_name, +[] { ::probe::drive_case(&case_name); }); \
    static ::probe::task<void> case_name()

} // namespace probe
