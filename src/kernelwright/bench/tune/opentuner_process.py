"""OpenTuner in a process of its own: a line of settings in, a line when it is ready, then a line of thresholds out and a line with their
time in, and so on. Each line out tells the processor time of this process, in seconds.

OpenTuner 0.8.8 sorts simplices and techniques with an argument that Python 3 does not have (``cmp``): the two functions get another.
"""

import functools
import inspect
import json
import logging
import random
import re
import sys
import textwrap
import time
from typing import Any

import opentuner
from opentuner.api import TuningRunManager
from opentuner.measurement.interface import DefaultMeasurementInterface
from opentuner.resultsdb.models import Result
from opentuner.search import metatechniques, simplextechniques, technique
from opentuner.search.bandittechniques import AUCBanditMetaTechnique
from opentuner.search.manipulator import ConfigurationManipulator, LogIntegerParameter

TECHNIQUES = (
    "RegularNelderMead",
    "RightNelderMead",
    "MultiNelderMead",
    "RandomTorczon",
    "RegularTorczon",
    "RightTorczon",
    "MultiTorczon",
)


def give_key(owner: type, name: str) -> None:
    """Replaces a method by itself with ``sort(key=...)``."""
    method = getattr(owner, name)
    text = re.sub(
        r"sort\(cmp=([\w.]+)\)", r"sort(key=functools.cmp_to_key(\1))", textwrap.dedent(inspect.getsource(method))
    )
    made: dict[str, Any] = {}
    exec(text, {**method.__globals__, "functools": functools}, made)
    setattr(owner, name, made[name])


class Threshold(LogIntegerParameter):  # type: ignore[misc]
    """A logarithmic scale that takes what lies below it as its lower end; OpenTuner's fails there (its issue 114)."""

    def _scale(self, v: float) -> float:
        return float(super()._scale(max(v, self.min_value)))


def main() -> None:
    """The process: settings on standard input, a line for each configuration asked, until there is no input."""
    settings = json.loads(sys.stdin.readline())
    random.seed(settings["seed"])
    manipulator = ConfigurationManipulator()
    for name, (low, high) in settings["ranges"].items():
        manipulator.add_parameter(Threshold(name, low, high))
    parser = opentuner.default_argparser()
    limit = ["--test-limit", str(settings["requests"])]
    arguments = parser.parse_args(["--no-dups", "--database", "sqlite://", *limit])
    give_key(simplextechniques.Torczon, "main_generator")
    give_key(metatechniques.RecyclingMetaTechnique, "recycle_techniques")
    bandit = AUCBanditMetaTechnique([getattr(simplextechniques, name)() for name in TECHNIQUES], name="thresholds")
    technique.register(bandit)
    arguments.technique = ["thresholds"]
    interface = DefaultMeasurementInterface(args=arguments, manipulator=manipulator, program_name="thresholds")
    manager = TuningRunManager(interface, arguments)
    logging.disable(logging.CRITICAL)
    print(json.dumps({"processor_s": time.process_time()}), flush=True)
    driver = manager.search_driver
    without_requests = 0
    while not driver.convergence_criteria() and without_requests <= arguments.bail_threshold:
        requests = driver.test_count
        for wanted in manager.get_desired_results():
            thresholds = {name: int(value) for name, value in wanted.configuration.data.items()}
            print(json.dumps({"thresholds": thresholds, "processor_s": time.process_time()}), flush=True)
            manager.report_result(wanted, Result(time=float(sys.stdin.readline())))
        without_requests = 0 if driver.test_count > requests else without_requests + 1


if __name__ == "__main__":
    main()
