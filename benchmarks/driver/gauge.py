"""Keeps a measurement from being taken while another program is on the same core. A gauge process per CPU (harness/gauge.cpp)
says how fast it is right now; the better part of its answers so far is what quiet means. A measurement waits a moment for
quiet, and is repeated when it was not quiet at both of its ends. What the subject itself measures has no say in this."""
import bisect
import subprocess
import time

QUIET = 1.10          # times the gauge's usual answer
USUAL = 0.25          # that part of its answers was better
PATIENCE = 0.25       # seconds to wait for quiet before a measurement
ATTEMPTS = 3
EXTRA = 0.6           # at most so much of the planned time is spent on waiting and repeating


class Gauge:
    def __init__(self, program, cpus):
        self.cpus = {cpu: subprocess.Popen(["taskset", "-c", str(cpu), str(program)], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True) for cpu in cpus}
        self.answers = {cpu: [] for cpu in cpus}  # sorted
        self.spent = 0.0
        self.planned = 0.0
        self.counts = {"measured": 0, "repeated": 0, "disturbed": 0}
        for _ in range(20):
            for cpu in cpus:
                self.ask(cpu)

    def ask(self, cpu):
        process = self.cpus[cpu]
        process.stdin.write("\n")
        process.stdin.flush()
        value = float(process.stdout.readline())
        answers = self.answers[cpu]
        bisect.insort(answers, value)
        return value / answers[int(len(answers) * USUAL)]

    def disturbance(self, cpus):
        """1 is as quiet as it usually is at its best."""
        return max(self.ask(cpu) for cpu in cpus)

    def may_spend(self):
        return self.spent < EXTRA * self.planned

    def wait_for_quiet(self, cpus):
        start = time.monotonic()
        while (now := self.disturbance(cpus)) > QUIET and self.may_spend() and time.monotonic() - start < PATIENCE:
            time.sleep(0.01)
        self.spent += time.monotonic() - start
        return now

    def measure(self, cpus, once):
        """The result of `once()` from the quietest attempt: a pair, of which the second says what went wrong, if anything."""
        best, least = None, float("inf")
        self.counts["measured"] += 1
        for attempt in range(ATTEMPTS):
            before = self.wait_for_quiet(cpus)
            start = time.monotonic()
            result = once()
            took = time.monotonic() - start
            if result[1]:
                return result
            worst = max(before, self.disturbance(cpus))
            if worst < least:
                best, least = result, worst
            if attempt == 0:
                self.planned += took
            else:
                self.spent += took
                self.counts["repeated"] += 1
            if least <= QUIET or not self.may_spend():
                break
        self.counts["disturbed"] += least > QUIET
        return best

    def close(self):
        for process in self.cpus.values():
            process.stdin.close()
            process.wait()
