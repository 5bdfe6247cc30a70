// A program that is half moved: it includes the former names and already writes the new ones. Classes are qualified. Nothing warns.
#pragma GCC diagnostic error "-Wdeprecated-declarations"
#include <roost/former_names.hpp>

#include <cstdio>

using namespace roost;
using namespace roost::ext;
using namespace roost::observe;

namespace {

struct nothing final : roost::ext::work {
    nothing() : roost::ext::work([](roost::ext::work&) noexcept {}) {}
};

std::size_t nodes_below(const node& top) {
    std::size_t found = 0;
    visit(top, 10, [&](const roost::observe::node_description&) { ++found; });
    return found;
}

}  // namespace

int main() {
    runtime rt(runtime_options().workers(1));
    owned_scope jobs(rt, "jobs");
    const shutdown server("server");
    char text[wall_text_size];
    nothing done;
    post_or_fall_back(rt, done, "nothing to do");
    const bool right = nodes_below(server.tree_node()) == 1 && dump(jobs).find("jobs") != std::string::npos &&
                       dump(server.tree_node()).find("server") != std::string::npos &&
                       write_wall_time(wall_now(), text).size() > 10;
    if (!right) {
        std::printf("wrong\n");
    }
    jobs.close_blocking();
    return right ? 0 : 1;
}
