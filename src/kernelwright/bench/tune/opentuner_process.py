"""OpenTuner in a process of its own: a line of settings in, then a line of thresholds out and a line with their time in, and so on.

OpenTuner 0.8.8 sorts simplices with an argument that Python 3 does not have (``cmp``): the line is replaced as it is loaded.
"""

import functools
import inspect
import json
import logging
import random
import sys
from typing import Any

import opentuner
from opentuner.api import TuningRunManager
from opentuner.measurement.interface import DefaultMeasurementInterface
from opentuner.resultsdb.models import Result
from opentuner.search import simplextechniques, technique
from opentuner.search.bandittechniques import AUCBanditMetaTechnique
from opentuner.search.manipulator import ConfigurationManipulator, LogIntegerParameter

TECHNIQUES = (
    "RandomNelderMead",
    "RegularNelderMead",
    "RightNelderMead",
    "MultiNelderMead",
    "RandomTorczon",
    "RegularTorczon",
    "RightTorczon",
)


OLD_SORT, SORT = "sort(cmp=objective.compare)", "sort(key=functools.cmp_to_key(objective.compare))"


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    random.seed(settings["seed"])
    manipulator = ConfigurationManipulator()
    for name, (low, high) in settings["ranges"].items():
        manipulator.add_parameter(LogIntegerParameter(name, low, high))
    parser = opentuner.default_argparser()
    arguments = parser.parse_args(["--no-dups", "--parallelism", "1", "--database", "sqlite://"])
    text = inspect.getsource(simplextechniques).replace(OLD_SORT, SORT)
    searches: dict[str, Any] = {**vars(simplextechniques), "functools": functools, "register": lambda _: None}
    exec(compile(text, simplextechniques.__file__, "exec"), searches)
    bandit = AUCBanditMetaTechnique([searches[name]() for name in TECHNIQUES], name="thresholds")
    technique.register(bandit)
    arguments.technique = ["thresholds"]
    interface = DefaultMeasurementInterface(args=arguments, manipulator=manipulator, program_name="thresholds")
    manager = TuningRunManager(interface, arguments)
    logging.disable(logging.CRITICAL)
    empty = asked = 0
    while asked < settings["most"] and empty <= arguments.bail_threshold:
        wanted = manager.get_next_desired_result()
        if wanted is None:
            empty += 1
            continue
        empty = 0
        asked += 1
        print(json.dumps({name: int(value) for name, value in wanted.configuration.data.items()}), flush=True)
        manager.report_result(wanted, Result(time=float(sys.stdin.readline())))


if __name__ == "__main__":
    main()
