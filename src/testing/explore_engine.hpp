#pragma once

// One execution of a body: model threads on contexts of their own, the objects they share, and what is known about each.
// Split over explore_engine.cpp (scheduling), explore_memory.cpp (atomics and plain memory), explore_blocking.cpp (locks,
// waiting, threads) and explore_alloc.cpp.

#include "explore_context.hpp"
#include "explore_mutation.hpp"
#include "explore_planner.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

// One store in the modification order of an atomic.
struct store_record {
    std::uint64_t value = 0;
    std::uint32_t stamp = 0;
    std::uint8_t thread = 0;
    bool seq_cst = false;
    clock_vector release;                               // what an acquiring reader learns
    std::array<std::uint32_t, max_threads> seen{};      // when each thread first read it, 0: never
};

inline constexpr unsigned history_length = 8;

struct object_record {
    const model_object* where = nullptr;
    model_kind kind = model_kind::word;
    bool dead = false;
    std::uint8_t creator = max_threads;                 // max_threads: made before the execution
    std::uint32_t created = 0;
    std::array<std::uint32_t, max_threads> accessed{};  // per thread, when it last touched this
    std::array<model_site, max_threads> accessed_at{};
    // word
    std::array<store_record, history_length> stores{};
    unsigned store_count = 0;
    unsigned floor = 0;                                 // stores before this index are no longer visible to any thread
    std::array<std::uint8_t, max_threads> stale_reads{};
    // cell
    std::uint8_t writer = max_threads;
    std::uint32_t written = 0;
    std::array<std::uint32_t, max_threads> read{};
    // lock
    int holder = -1;
    clock_vector release;
    model_site ended_at{};
};

enum class thread_status : std::uint8_t { unused, ready, blocked, finished };

struct thread_record {
    context stack;
    thread_status status = thread_status::unused;
    int starter = -1;                // the thread that runs this one to its first step, and is continued then
    std::uint32_t now = 1;
    clock_vector known;              // happens-before
    clock_vector fence_acquire;      // what relaxed loads saw: learned at the next fence
    clock_vector fence_release;      // what relaxed stores publish since the last fence
    bool fenced = false;
    void (*run)(void*) = nullptr;
    void* argument = nullptr;
    thread_mask waits_for_steps_of = 0;  // after a yield
    thread_mask stepped_since_yield = 0;
    bool yielded = false;                // its last step was a yield
    bool timed_out = false;
    time_point deadline = no_deadline;
    std::uint32_t queue = 0;         // object it is blocked on
    std::uint64_t random = 0;
    struct slot {
        const void* key;
        void* value;
        void (*destroy)(void*);
    };
    std::vector<std::unique_ptr<slot>> slots;
};

struct block_record {
    char* begin = nullptr;
    std::size_t size = 0;
    bool live = false;
    std::uint64_t freed_order = 0;
    model_site allocated_at{};
    model_site freed_at{};
};

struct failure {
    testkit::verdict verdict = testkit::verdict::ok;
    std::string message;
};

class engine final : public roost::detail::model_engine {
public:
    engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();

    struct settings {
        bool weak = false;
        testkit::reuse reuse = testkit::reuse::quarantine;
        std::uint32_t max_steps = 5000;
        std::uint32_t failing_allocations = 0;
        bool spurious_wakes = false;
        bool spurious_failures = false;
        std::uint8_t old_reads = 2;
    };
    settings how;
    planner plan;
    mutation mutant;

    // Runs the body once under the planner's choices.
    failure run(const std::function<void()>& body);
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
    [[nodiscard]] bool heavy_barrier_found() const noexcept { return barriers_ && !barriers_at_start_; }
    void record_trace(bool on) {
        tracing_ = on;
        trace_.clear();
        trace_lines_ = 0;
        traced_thread_ = 0;
    }
    [[nodiscard]] std::vector<std::string> take_trace() { return std::move(trace_); }
    [[noreturn]] void fail_with(testkit::verdict v, std::string message);

    void construct(const model_object& object, model_kind kind) override;
    void destroy(const model_object& object) override;
    std::uint64_t load(const model_word& word, std::memory_order order, model_site at) override;
    void store(model_word& word, std::uint64_t value, std::memory_order order, model_site at) override;
    std::uint64_t rmw_begin(model_word& word, model_op op, std::uint64_t expected, model_site at) override;
    void rmw_commit(model_word& word, std::uint64_t value, std::memory_order order) override;
    void rmw_fail(model_word& word, std::memory_order order) override;
    bool fails_spuriously() override;
    void plain_read(const model_object& cell, model_site at) override;
    void plain_write(const model_object& cell, model_site at) override;
    void lock(const model_object& lock, model_site at) override;
    bool try_lock(const model_object& lock, model_site at) override;
    void unlock(const model_object& lock, model_site at) override;
    bool wait(model_word& word, std::uint32_t expected, time_point deadline, model_site at) override;
    void await(model_word& word, std::uint32_t expected, model_site at) override;
    void wake(const void* address, int count, model_site at) override;
    bool condition_wait(const model_object& condition, const model_object& lock, time_point deadline,
                        model_site at) override;
    void condition_notify(const model_object& condition, model_site at) override;
    std::uint32_t spawn(void (*run)(void*), void* argument, model_site at) override;
    void join(std::uint32_t thread, model_site at) override;
    std::uint32_t thread_index() override { return current_; }
    void*& thread_slot(const void* key, void (*destroy)(void*)) override;
    time_point now(model_site at) override;
    std::uint64_t random() override;
    void* allocate(std::size_t size, std::size_t alignment, model_site at) override;
    void deallocate(void* memory, std::size_t size, model_site at) override;
    void heavy_barrier(model_site at) override;
    void yield(model_site at) override;
    std::uint32_t choose(std::uint32_t alternatives, model_site at) override;
    [[noreturn]] void fail(const char* text, model_site at) override;

private:
    struct waiter {
        std::uint32_t queue;
        unsigned thread;
    };

    // scheduling
    thread_record& me() noexcept { return *threads_[current_]; }
    void visible(operation& what);             // returns when this thread may make this step
    void done(operation& what);                // called when the step has been made
    unsigned schedule();
    thread_mask able(thread_mask& resting) const;
    [[nodiscard]] bool can_step(unsigned thread) const;
    int fire_earliest_timeout();               // returns the thread that timed out, or -1
    unsigned start_thread(void (*run)(void*), void* argument);
    [[noreturn]] void report_deadlock();
    void switch_to(unsigned thread, bool ends = false);
    void run_to_next_step(unsigned thread);
    void block();
    static void thread_entry();
    void thread_main();
    [[noreturn]] void finish_thread();
    [[noreturn]] void finish_execution();
    [[noreturn]] void leave();
    unsigned pick_value(unsigned count);
    void reset();

    // objects
    object_record& resolve(const model_object& object, model_kind kind, model_site at);
    object_record& enlist(const model_object& object, model_kind kind);
    object_record& resolve_unknown(const model_object& object, model_kind kind, model_site at);
    [[noreturn]] void report_poisoned(const model_object& object, model_site at);
    void reject_freed(const model_object& object, model_site at);
    void note_access(object_record& record, model_site at);
    void end_lifetime(object_record& record, const char* how);
    [[noreturn]] void report_dead(const object_record& record, model_site at);
    [[nodiscard]] std::uint32_t id_of(const object_record& record) const noexcept;
    std::uint32_t queue_of(const void* address);
    operation step_on(model_op op, const model_object& object, model_kind kind, bool write, model_site at);

    // memory
    unsigned oldest_visible(const object_record& record, bool seq_cst) const;
    void learn(const store_record& from, std::memory_order order);
    void push_store(object_record& record, std::uint64_t value, std::memory_order order, const clock_vector* sequence);
    void refresh_view();

    // blocking
    bool sleep_in(std::uint32_t queue, time_point deadline);
    void wake_from(std::uint32_t queue, int count, operation& what);
    bool times_out(time_point deadline, operation& what);

    // memory blocks
    block_record* block_at(const void* p);
    void check_leaks();
    void release_block(block_record& block, model_site at);

    void trace_step(const operation& what, const std::string& detail);
    void trace_note(const std::string& text);
    void trace_switch();
    std::string trace_head();
    [[nodiscard]] bool tracing() const noexcept { return tracing_; }

    std::vector<std::unique_ptr<thread_record>> threads_;
    unsigned thread_count_ = 0;
    unsigned current_ = 0;
    context host_;
    const std::function<void()>* body_ = nullptr;
    failure failure_;
    std::uint32_t epoch_ = 0;
    std::uint64_t steps_ = 0;
    std::uint32_t steps_here_ = 0;
    std::uint64_t fingerprint_ = 0;

    std::vector<object_record> objects_;
    std::uint32_t object_count_ = first_real_object;
    std::vector<std::pair<const void*, std::uint32_t>> queues_;
    std::vector<waiter> waiters_;
    operation rmw_;
    bool rmw_split_ = false;   // mutant: the read-modify-write under way is a load and a store
    time_point clock_{};
    bool barriers_ = false;
    bool barriers_at_start_ = false;

    char* arena_ = nullptr;
    std::size_t arena_used_ = 0;
    std::vector<block_record> blocks_;
    std::uint32_t allocations_to_fail_ = 0;
    std::uint64_t frees_ = 0;

    bool tracing_ = false;
    std::vector<std::string> trace_;
    unsigned trace_lines_ = 0;
    unsigned traced_thread_ = 0;
};

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI
