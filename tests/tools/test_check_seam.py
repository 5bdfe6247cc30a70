import unittest

from planted import PlantedTree

VIOLATIONS = [
    "std::atomic<int> x;",
    "std::atomic_flag x;",
    "std :: atomic<int> x;",
    "std::mutex m;",
    "std::shared_mutex m;",
    "std::condition_variable c;",
    "using std::condition_variable;",
    "std::counting_semaphore<1> s(0);",
    "std::binary_semaphore s(0);",
    "std::latch l(1);",
    "std::barrier b(1);",
    "std::thread t;",
    "std::jthread t;",
    "thread_local int x;",
    "auto t = std::chrono::steady_clock::now();",
    "auto t = clock::now() + std::chrono::system_clock::duration(1);",
    "std::atomic_thread_fence(std::memory_order_seq_cst);",
    "__atomic_load_n(&x, 0);",
    "__sync_synchronize();",
    "pthread_mutex_lock(&m);",
    "std::this_thread::yield();",
    "std::call_once(flag, f);",
]

HARMLESS = """// std::atomic is what this replaces
/* thread_local,
   std::mutex */
const char* text = "std::mutex";
const char* raw = R"(thread_local)";
roost::atomic<int> x;
roost::mutex m;
std::thread::id id;
std::chrono::steady_clock::time_point t;
int n = 1'000'000;
"""


class CheckSeam(PlantedTree):
    tool = "check_seam"

    def test_the_seam_itself_and_harmless_text_pass(self):
        self.plant("src/sync/event.cpp", HARMLESS)
        self.assert_clean()

    def test_each_banned_primitive_is_found(self):
        for violation in VIOLATIONS:
            with self.subTest(violation):
                self.plant("src/sync/event.cpp", f"int a;\n{violation}\n")
                self.assert_found("src/sync/event.cpp:2:", "is banned outside the seam")

    def test_headers_are_checked_too(self):
        self.plant("include/roost/sync/detail/list.hpp", "std::atomic<int> x;\n")
        self.assert_found("include/roost/sync/detail/list.hpp:1:")

    def test_a_seam_file_that_is_gone_is_found(self):
        (self.root / "include/roost/base/atomic.hpp").unlink()
        self.assert_found("the seam names 'include/roost/base/atomic.hpp', but there is no such file")


unittest.main()
