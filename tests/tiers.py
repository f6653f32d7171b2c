"""The tiers of the tests: how many cases of a function run, and which test costs more than it says.

A parametrised function runs a few of its cases, drawn with a fixed seed so that each process and
each day draws the same: the first and the last, those marked `corner`, and others up to `--cases`.
A table with at most two more runs whole, since each row of a short one tends to be a rule of its own.
`--cases 0` runs all, as `make nightly` does; so does a case or a word that is asked for by name. A
function marked `every_case` is never drawn from. Hypothesis tries the same examples each time: 40 of
each law that names no number, and 100 with `--cases 0`; `HYPOTHESIS_PROFILE=explore` looks for new
ones.

With `--costs`, the end of a run lists the tests marked neither `slow` nor `long` that took more than
a second of processor time, with that of the processes they waited for.
"""

import os
import random
import sys

import pytest
from hypothesis import HealthCheck, settings

MOST_SECONDS = 1.0
# A table that is so much longer than what is drawn is not drawn from
SHORT = 2
# A test that loads so many modules is the first to import somebody else's package: not its own cost
MANY_MODULES = 40
# Fixtures by which a test takes all of what it draws from with `--cases 0`: there it may take its time
DRAWING = {"drawn", "published", "pytestconfig"}


def pytest_addoption(parser):
    """Add the options of the tiers."""
    group = parser.getgroup("tiers")
    group.addoption(
        "--cases",
        type=int,
        default=3,
        metavar="N",
        help="how many cases of each parametrised test run; 0 runs all",
    )
    group.addoption(
        "--costs",
        choices=["list", "fail"],
        help="list unmarked tests that take more than a second of processor time, or fail on them",
    )


def pytest_configure(config):
    """Choose how many examples are tried; measure what the tests cost, if that is asked for."""
    # Too slow is a timing, which no test may fail by
    same = {"derandomize": True, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("few", max_examples=40, **same)
    settings.register_profile("all", max_examples=100, **same)
    settings.register_profile("explore", max_examples=2_000, **{**same, "derandomize": False})
    profile = "few"
    if config.getoption("--cases") == 0:
        profile = "all"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))
    if config.getoption("--costs"):
        config.pluginmanager.register(Costs(config.getoption("--costs")))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave a few cases of each function, of those that `-m` left."""
    most = config.getoption("--cases")
    is_named = config.option.keyword or any("[" in argument for argument in config.args)
    if most == 0 or is_named:
        return
    functions = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = []
    for name, cases in functions.items():
        left_out += not_drawn(name, cases, most)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def not_drawn(name, cases, most):
    """Return those of *cases* of the function *name* that do not run if at most *most* do."""
    if len(cases) <= most + SHORT or cases[0].get_closest_marker("every_case"):
        return []
    kept = {cases[0], cases[-1]}
    kept.update(case for case in cases if case.get_closest_marker("corner"))
    others = [case for case in cases if case not in kept]
    missing = max(0, most - len(kept))
    kept.update(random.Random(name).sample(others, min(missing, len(others))))
    return [case for case in cases if case not in kept]


def cpu_seconds():
    """The processor time of this process and of the ended ones that it waited for."""
    return sum(os.times()[:4])


class Costs:
    """Measures each test in the process that runs it, and tells at the end of the whole run.

    What tests share is not the cost of the test that happens to be the first or the last to use it:
    the set-up of fixtures that outlive a test, and the end of a module. Nor is what a process does
    that has not ended yet, such as a shared kernel.
    """

    def __init__(self, mode):
        self.mode = mode
        self.too_much = {}
        self._seconds = 0.0
        self._shared = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Count what is set up for more than one test apart."""
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._shared += cpu_seconds() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self):
        """Begin to count."""
        self._seconds = self._shared = 0.0
        self._modules = len(sys.modules)
        return (yield from self._counted())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self):
        """Count the test itself."""
        return (yield from self._counted())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item, nextitem):
        """Count the end of a test, if it is not the end of its module too."""
        if nextitem is None or nextitem.module is not item.module:
            return (yield)
        return (yield from self._counted())

    def _counted(self):
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            self._seconds += cpu_seconds() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Send a cost that is too high along with the report of the test's end."""
        report = yield
        seconds = self._seconds - self._shared
        is_marked = item.get_closest_marker("slow") or item.get_closest_marker("long")
        has_imported = len(sys.modules) - self._modules > MANY_MODULES
        has_all = item.config.getoption("--cases") == 0 and DRAWING & set(item.fixturenames)
        if (
            call.when == "teardown"
            and seconds > MOST_SECONDS
            and not is_marked
            and not has_imported
            and not has_all
        ):
            report.user_properties = [*report.user_properties, ("cpu seconds", seconds)]
        return report

    def pytest_runtest_logreport(self, report):
        """Collect the costs, in the process that the user started."""
        self.too_much.update(
            (report.nodeid, value)
            for name, value in report.user_properties
            if name == "cpu seconds"
        )

    def pytest_terminal_summary(self, terminalreporter):
        """List the tests that cost too much, the dearest first."""
        if not self.too_much:
            return
        terminalreporter.section(f"Mark as slow, or make faster: over {MOST_SECONDS:g} s of CPU")
        for name, seconds in sorted(self.too_much.items(), key=lambda item: -item[1]):
            terminalreporter.write_line(f"{seconds:6.2f} s  {name}")

    def pytest_sessionfinish(self, session):
        """Fail a run that is asked to, in the process that the user started."""
        is_worker = hasattr(session.config, "workerinput")
        if self.mode == "fail" and self.too_much and not is_worker and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
