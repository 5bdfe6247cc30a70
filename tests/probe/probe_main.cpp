// Runs every case of the program in a process of its own and prints one line per case:
//   verdict <tab> group.case <tab> figure <tab> explanation        verdict: pass, fail, crash or hang
// Arguments: --list, or a list of full case names to run (all without). PROBE_SECONDS limits one case (30).
#include "probe.hpp"

#include <cstdarg>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace probe {
namespace {

struct verdict {
    volatile bool complete;
    volatile bool failed;
    char message[512];
    char figure[64];
};
verdict* shared; // in memory that parent and child see, so it outlives a crash

test_case* first_case = nullptr;
test_case** last_case = &first_case;

constexpr int queue_capacity = 64;
std::coroutine_handle<> queue[queue_capacity];
int queue_size = 0;

unsigned seconds_per_case() {
    const char* text = std::getenv("PROBE_SECONDS");
    return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : 30;
}

} // namespace

test_case::test_case(const char* group_, const char* name_, void (*body_)()) noexcept
    : group(group_), name(name_), body(body_) {
    *last_case = this;
    last_case = &next;
}

void fail(const char* file, int line, const char* what) noexcept {
    if (shared->failed) return;
    const char* slash = std::strrchr(file, '/');
    if (line == 0)
        std::snprintf(shared->message, sizeof shared->message, "%s: %s", file, what);
    else
        std::snprintf(shared->message, sizeof shared->message, "%s:%d: %s", slash ? slash + 1 : file, line, what);
    shared->failed = true;
}
bool failed() noexcept { return shared->failed; }

void fact(const char* format, ...) noexcept {
    va_list args;
    va_start(args, format);
    std::vsnprintf(shared->figure, sizeof shared->figure, format, args);
    va_end(args);
}

void finish_now() noexcept {
    shared->complete = true;
    _exit(0);
}

void ready(std::coroutine_handle<> handle) noexcept {
    if (queue_size == queue_capacity) std::abort();
    queue[queue_size++] = handle;
}

void run_until_idle() {
    while (queue_size > 0) {
        auto handle = queue[0];
        std::memmove(static_cast<void*>(queue), static_cast<void*>(queue + 1),
                     sizeof(queue[0]) * static_cast<std::size_t>(--queue_size));
        handle.resume();
    }
}

void drive_case(task<void> (*body)()) {
    auto t = body();
    PROBE_EXPECT(drive(t));
    if (t.handle().done() && t.handle().promise().error) fail("case", 0, "an unexpected exception left the case");
}

namespace {

void check_balance() {
    char text[128];
    if (seen.built != seen.destroyed) {
        std::snprintf(text, sizeof text, "%ld objects built, %ld destroyed", seen.built, seen.destroyed);
        fail("balance", 0, text);
    }
    if (seen.frames != 0) {
        std::snprintf(text, sizeof text, "%ld coroutine frames left over", seen.frames);
        fail("balance", 0, text);
    }
}

[[noreturn]] void run_child(const test_case& c, int output) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(output, 1);
    dup2(output, 2);
    alarm(seconds_per_case()); // default action: killed by SIGALRM, which the parent reports as a hang
    c.body();
    check_balance();
    finish_now();
}

// The first line of a sanitizer report or of the C library's last words, on one line.
void last_words(int output, char* text, std::size_t size) {
    char buffer[4096];
    lseek(output, 0, SEEK_SET);
    const auto length = read(output, buffer, sizeof buffer - 1);
    buffer[length > 0 ? length : 0] = '\0';
    const char* start = std::strstr(buffer, "ERROR: ");
    if (start == nullptr) start = std::strstr(buffer, "WARNING: ThreadSanitizer");
    if (start == nullptr) start = buffer;
    std::snprintf(text, size, "%.*s", static_cast<int>(std::strcspn(start, "\n")), start);
}

void report(const test_case& c, int status, int output) {
    char why[256] = "";
    const char* word = "pass";
    if (WIFSIGNALED(status)) {
        word = WTERMSIG(status) == SIGALRM ? "hang" : "crash";
        char words[160];
        last_words(output, words, sizeof words);
        std::snprintf(why, sizeof why, "%s %s", strsignal(WTERMSIG(status)), words);
    } else if (!shared->complete || WEXITSTATUS(status) != 0) {
        word = "crash";
        last_words(output, why, sizeof why);
        if (why[0] == '\0') std::snprintf(why, sizeof why, "ended early with exit code %d", WEXITSTATUS(status));
    }
    if (shared->failed && word[0] == 'p') word = "fail";
    std::printf("%s\t%s.%s\t%s\t%s%s%s\n", word, c.group, c.name, shared->figure, shared->message,
                shared->message[0] != '\0' && why[0] != '\0' ? "; " : "", why);
    std::fflush(stdout);
}

void run(const test_case& c) {
    std::memset(static_cast<void*>(shared), 0, sizeof *shared);
    const int output = memfd_create("probe", 0);
    const pid_t child = fork();
    if (child == 0) run_child(c, output);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
    report(c, status, output);
    close(output);
}

bool wanted(const test_case& c, int argc, char** argv) {
    if (argc < 2) return true;
    char full[256];
    std::snprintf(full, sizeof full, "%s.%s", c.group, c.name);
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(full, argv[i]) == 0) return true;
    return false;
}

} // namespace
} // namespace probe

int main(int argc, char** argv) {
    using namespace probe;
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const auto* c = first_case; c != nullptr; c = c->next) std::printf("%s.%s\n", c->group, c->name);
        return 0;
    }
    void* memory = mmap(nullptr, sizeof(verdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    shared = new (memory) verdict{};
    for (const auto* c = first_case; c != nullptr; c = c->next)
        if (wanted(*c, argc, argv)) run(*c);
    return 0;
}
