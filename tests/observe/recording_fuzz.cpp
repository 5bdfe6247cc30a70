// Any bytes as a file of the flight recorder: reading takes memory in proportion to them, and the trace of what was read is text
// in which every bracket and string ends.

#include <roost/observe/chrome_trace.hpp>
#include <roost/observe/recording.hpp>

#include "fuzz_input.hpp"

#include <string>
#include <string_view>

namespace {

// Returns true if brackets nest and strings end, and no control character is in a string.
bool is_balanced(std::string_view json) {
    std::string open;
    bool in_text = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_text) {
            if (static_cast<unsigned char>(c) < 0x20) {
                return false;
            }
            in_text = c != '"';
            i += c == '\\' ? 1 : 0;
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            open += c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (open.empty() || open.back() != c) {
                return false;
            }
            open.pop_back();
        }
    }
    return open.empty() && !in_text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using testing_support::require;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const roost::observe::recording r = roost::observe::read_recording(bytes);
    require(r.events().size() <= size / 32 && r.threads().size() <= size / 8, "no more is read than there is");
    for (const auto& e : r.events()) {
        require(e.thread() < r.threads().size(), "each event has a thread");
    }
    const std::string json = roost::observe::to_chrome_trace(r);
    require(json.size() <= 1000 + size * 50, "the trace grows with the file");
    require(is_balanced(json), "the trace is well-formed");
    return 0;
}
