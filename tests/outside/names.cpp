// Names: a literal is kept, everything else is copied, so a report never shows text that is gone.
#include <roost/roost.hpp>

#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

namespace {

using namespace std::chrono_literals;

roost::task<> reader() { co_await roost::sleep_for(20ms); }

[[gnu::noinline]] void begin_readers(roost::scope& s) {
    char buffer[32] = "reader of 10.0.0.1";
    s.launch(buffer, reader());
    const char local[] = "reader of 10.0.0.2";
    s.launch(std::string_view(local), reader());
    const std::string text = "reader of 10.0.0.3, which is too long for a small string";
    s.launch(text, reader());
    s.launch(text.c_str(), reader());
    s.launch("reader of 10.0.0.4", reader());
}

[[gnu::noinline]] int overwrite_stack() {
    volatile char junk[2048];
    for (auto& c : junk) {
        c = 'X';
    }
    return junk[7];
}

std::string shown;

roost::task<> body(roost::scope& s) {
    begin_readers(s);
    static_cast<void>(overwrite_stack());
    shown = roost::observe::dump(s);
    co_return;
}

roost::task<> top() { co_await roost::with_scope(body); }

// What is kept as a pointer takes literals only.
static_assert(!std::is_constructible_v<roost::event, const char*>);
static_assert(!std::is_constructible_v<roost::mutex, std::string>);
static_assert(!std::is_constructible_v<roost::literal, char (&)[8]>);
static_assert(std::is_constructible_v<roost::event, roost::literal>);

}  // namespace

int main() {
    alarm(60);
    roost::run(top(), roost::runtime_options().workers(1));
    for (const char* wanted :
         {"'reader of 10.0.0.1'", "'reader of 10.0.0.2'", "'reader of 10.0.0.3, which", "'reader of 10.0.0.4'"}) {
        if (shown.find(wanted) == std::string::npos) {
            std::printf("%s is missing in:\n%s\n", wanted, shown.c_str());
            return 1;
        }
    }
    return 0;
}
