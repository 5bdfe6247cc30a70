// Lists of failures that several threads copy, walk, put together and let go.
#include <roost/task/detail/job/failure_list.hpp>

#include <roost/sync/event.hpp>
#include <roost/task/detail/job/policy_scope.hpp>
#include <roost/task/on.hpp>
#include <roost/task/others_of.hpp>
#include <roost/task/this_task.hpp>

#include "model_rig.hpp"

#include <memory>
#include <vector>

namespace {

using namespace roost;
using namespace roost::seam;
using model_rig::finish;
using model_rig::run_until;
using roost::detail::failure_list;
using roost::testing::check;
using roost::testing::manual_executor;
using errors = std::vector<std::exception_ptr>;

// Failures that know when no list holds them any more.
class failures {
public:
    std::exception_ptr make() {
        auto mark = std::make_shared<int>(0);
        marks_.emplace_back(mark);
        return std::make_exception_ptr(std::move(mark));
    }
    static failure_list list_of(const errors& all) {
        failure_list list;
        for (const std::exception_ptr& error : all) {
            list.add(error);
        }
        return list;
    }
    void check_gone() const {
        for (const std::weak_ptr<int>& mark : marks_) {
            check(mark.expired(), "JOB-161: a failure goes with the last list that holds it");
        }
    }

private:
    std::vector<std::weak_ptr<int>> marks_;
};

void check_holds(const failure_list& list, const errors& expected) {
    check(list.to_vector() == expected, "JOB-161: a list holds what it held, in order, each once");
}

// Two handles of a job: each thread copies, reads and lets go, in any order. The last one frees the list.
MODEL_COMPLETE(failure_list_model, JOB_161_copy_and_release) {
    failures all;
    {
        errors e{all.make(), all.make()};
        failure_list one = all.list_of(e);
        failure_list two = one;
        thread other([&e, mine = std::move(two)]() mutable {
            check_holds(mine, e);
            mine = failure_list();
        });
        failure_list copy = one;
        one = failure_list();
        check_holds(copy, e);
        copy = failure_list();
        other.join();
    }
    all.check_gone();
}

// Three threads let go: one of a list, one of a copy, one of a longer list above it.
MODEL_COMPLETE(failure_list_model, JOB_161_three_release) {
    failures all;
    {
        const errors e{all.make(), all.make()};
        failure_list below = all.list_of({e[0]});
        failure_list above = below;
        above.add(e[1]);
        failure_list beside = below;
        thread first([mine = std::move(above), &e]() mutable {
            check_holds(mine, e);
            mine = failure_list();
        });
        thread second([mine = std::move(beside)]() mutable { mine = failure_list(); });
        check_holds(below, {e[0]});
        below = failure_list();
        first.join();
        second.join();
    }
    all.check_gone();
}

// Handles on two threads ask the same finished job, whose own list stays.
MODEL_COMPLETE(failure_list_model, JOB_161_two_readers_of_one_list) {
    failures all;
    {
        const errors e{all.make(), all.make()};
        const failure_list kept = all.list_of(e);
        thread other([&] { check_holds(failure_list(kept), e); });
        check_holds(failure_list(kept), e);
        other.join();
        check_holds(kept, e);
    }
    all.check_gone();
}

// Two scopes take the failures of one job up, each with a failure of its own before them, while the job goes.
MODEL_COMPLETE(failure_list_model, JOB_161_shared_by_two_above) {
    failures all;
    {
        const errors e{all.make(), all.make(), all.make()};
        failure_list shared = all.list_of({e[0]});
        failure_list left = all.list_of({e[1]});
        failure_list right = all.list_of({e[2]});
        thread other([&e, mine = std::move(right), more = shared]() mutable {
            mine.add(more);
            more = failure_list();
            check_holds(mine, {e[2], e[0]});
        });
        left.add(shared);
        left.add(shared);  // it comes two ways
        shared = failure_list();
        check_holds(left, {e[1], e[0]});
        left = failure_list();
        other.join();
    }
    all.check_gone();
}

// Two children fail on two threads, each with the failures of one job that both have awaited beside its error.
MODEL_COMPLETE(failure_list_model, JOB_3_two_fail_at_once) {
    failures all;
    {
        const errors e{all.make(), all.make(), all.make()};
        manual_executor ex;
        owned_scope root(ex, scope_options("root").report_failures());
        failure_list beside = all.list_of({e[2]});
        thread other([&e, &root, mine = beside]() mutable {
            detail::task_access::core_of(root).body_failed(e[1], mine);
            mine = failure_list();
        });
        detail::task_access::core_of(root).body_failed(e[0], beside);
        beside = failure_list();
        other.join();
        const std::exception_ptr first = detail::task_access::core_of(root).first_failure();
        const errors others = detail::task_access::core_of(root).take_other_failures().to_vector(first);
        check(first == e[0] || first == e[1], "JOB-2: one of the two errors is the first");
        const std::exception_ptr second = first == e[0] ? e[1] : e[0];
        check(others == errors{second, e[2]} || others == errors{e[2], second}, "JOB-3: the others are kept, each once");
        finish(ex, root);
    }
    all.check_gone();
}

// Two callers that close one scope take what failed beside its first failure: one of them gets all of it.
MODEL_COMPLETE(failure_list_model, JOB_130_two_take) {
    failures all;
    {
        const errors e{all.make(), all.make()};
        manual_executor ex;
        owned_scope root(ex, scope_options("root").report_failures());
        detail::task_access::core_of(root).body_failed(e[0], all.list_of({e[1]}));
        errors got;
        thread other([&] { got = detail::task_access::core_of(root).take_other_failures().to_vector(); });
        const errors mine = detail::task_access::core_of(root).take_other_failures().to_vector();
        other.join();
        check(mine.size() + got.size() == 1, "JOB-130: none is lost, and none is given twice");
        finish(ex, root);
    }
    all.check_gone();
}

task<> fails_elsewhere(job& me, event& go, const errors& e) {
    me = co_await this_job();
    co_await go.wait();
    co_await detail::carry_failure(e[0], e[1]);
    std::rethrow_exception(e[0]);
}
task<> waits_for_it(manual_executor& ex, job& child, event& go, const errors& e, errors& others) {
    try {
        co_await on(ex, fails_elsewhere(child, go, e));
    } catch (...) {
        others = others_of(std::current_exception());
    }
}

// A handle of the child of an on() is asked on another thread, while the awaiting job takes the failures over.
MODEL_COMPLETE(failure_list_model, JOB_161_asked_while_passed_on) {
    failures all;
    {
        const errors e{all.make(), all.make()};
        manual_executor ex;
        owned_scope root(ex, scope_options("root").report_failures());
        event go;
        job child;
        errors others;
        const job j = root.launch("awaits", waits_for_it(ex, child, go, e, others));
        ex.run_all();
        go.set();
        thread asking([&, handle = child]() mutable {
            if (handle.is_finished()) {
                check(handle.others() == errors{e[1]}, "JOB-161: a handle gives the failures of its job");
            }
            handle = job();
        });
        run_until(ex, [&] { return j.is_finished(); });
        asking.join();
        check(others == errors{e[1]}, "JOB-86: what failed beside the error travels with it");
        check(child.others() == errors{e[1]}, "JOB-161: also afterwards");
        child = job();
        finish(ex, root);
    }
    all.check_gone();
}

}  // namespace
