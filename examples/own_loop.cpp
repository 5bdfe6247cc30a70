// Roost on your own event loop: anything with a noexcept post(work&) is an executor.

#include <roost/exec/executor.hpp>

#include <cstdio>

namespace {

// begin loop
// Your loop. It only has to keep work until its turn comes; posting allocates nothing.
class my_loop {
public:
    bool post(roost::ext::work& w) noexcept {
        if (closed_) {
            return false;  // refused work goes to the fallback executor, never away
        }
        queue_.push(w);
        return true;
    }

    int run() noexcept {
        int count = 0;
        while (roost::ext::work* w = queue_.pop()) {
            w->run();
            ++count;
        }
        return count;
    }

    void close() noexcept { closed_ = true; }

private:
    roost::ext::work_list queue_;
    bool closed_ = false;
};
// end loop

class greeting final : public roost::ext::work {
public:
    explicit greeting(const char* name) noexcept : work(&say), name_(name) {}

private:
    static void say(work& self) noexcept { std::printf("hello from %s\n", static_cast<greeting&>(self).name_); }
    const char* name_;
};

}  // namespace

int main() {
    my_loop main_loop;
    my_loop spare_loop;
    roost::ext::executor_adapter on_main(main_loop);
    roost::ext::executor_adapter on_spare(spare_loop);
    roost::ext::set_fallback_executor(on_spare);

    greeting first("the main loop");
    greeting second("the spare loop, because the main loop had closed");
    roost::ext::post_or_fall_back(on_main, first, "first greeting");
    main_loop.close();
    roost::ext::post_or_fall_back(on_main, second, "second greeting");

    const int ran = main_loop.run() + spare_loop.run();
    std::printf("posted 2, ran %d, lost %d\n", ran, 2 - ran);
    return ran == 2 ? 0 : 1;
}
