// A stream of rows, loaded page by page while somebody asks for them.

#include <roost/roost.hpp>
#include <roost/task/generator.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace roost;
using namespace std::chrono_literals;

namespace {

struct row {
    std::string text;
};

task<std::vector<row>> load_page(int page) {
    co_await sleep_for(1ms);
    std::vector<row> rows;
    for (int i = 0; i < 3 - page; ++i) {
        rows.push_back({"row " + std::to_string(i) + " of page " + std::to_string(page)});
    }
    co_return rows;
}

// begin body
generator<row> all_rows() {
    for (int page = 0;; ++page) {
        std::vector<row> rows = co_await load_page(page);
        if (rows.empty()) {
            co_return;
        }
        for (row& r : rows) {
            co_yield std::move(r);
        }
    }
}

task<std::vector<row>> read_all() {
    std::vector<row> got;
    auto rows = all_rows();
    for (;;) {
        row* r = co_await rows.next();
        if (r == nullptr) {
            break;
        }
        got.push_back(std::move(*r));
    }
    co_return got;
}
// end body

}  // namespace

int main() {
    const std::vector<row> got = run(read_all());
    for (const row& r : got) {
        std::printf("%s\n", r.text.c_str());
    }
    return got.size() == 6 ? 0 : 1;
}
