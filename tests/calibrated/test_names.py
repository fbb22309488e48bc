"""GPUs by name: with a calibration, or of a person's own from a TOML file; what is read is what was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.calibration import FACTORS, NORMS, Calibration, calibration_of
from kernelwright.device.settings import Settings, calibrated
from kernelwright.errors import Misuse
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.target import gpu, with_calibration

MADE = Calibration("my lab", "a100", 80, 0.11, 0.93, "a file", ("l2: the folds differ",), norm=8, scale=1.25, dram=0.9)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    MADE.save(tmp_path / "mine.json")
    return tmp_path / "mine.json"


def toml(folder: Path, text: str, name: str = "mine.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@given(st.sampled_from(NORMS), st.lists(st.floats(0.1, 10), min_size=len(FACTORS), max_size=len(FACTORS)))
def test_calibrations_in_a_word_say_the_same(norm: int, factors: list[float]) -> None:
    made = Calibration("a", "h200", 3, 0.5, None, norm=norm, **dict(zip(FACTORS, factors, strict=True)))
    assert calibration_of(made.text) == made and not set(made.text) & set(" '\"@;&()")
    assert gpu(f"h200@{made.text}").calibration == made


def test_a_device_is_named_with_its_calibration(file: Path) -> None:
    found = gpu(f"a100@{file}")
    assert (found.called, found.calibration.scale, found.calibration.norm) == ("a100", 1.25, 8)
    assert (
        found.label == "NVIDIA A100 SXM4 40 GB, calibration my-lab (80 measurements on a100)" or "my lab" in found.label
    )
    again = gpu(found.name)
    assert again == gpu(again.name) and again.calibration.text == MADE.text
    assert found.sm is gpu("a100").sm and gpu("a100").label == gpu("a100").title
    assert calibrated("a100", str(file)) == found.name == calibrated("auto", file), "auto is the one it was fitted on"
    assert calibrated("a100", None) == "a100"
    assert Settings.for_device(found.name).gpu.calibration == again.calibration
    assert Settings.of({"KERNELWRIGHT_DEVICE": f"a100@{file}"}).name == found.name
    assert RunSettings.on(f"a100@{file}").device == found.name, "a run does not depend on the file any more"


def test_calibrations_that_do_not_fit(file: Path) -> None:
    with pytest.raises(Misuse, match="is of another GPU than h100") as told:
        calibrated("h100", file)
    assert "--device a100" in str(told.value.hint)
    with pytest.raises(Misuse, match=r"times of cuda:0 are measured"):
        calibrated("cuda:0", file)
    with pytest.raises(Misuse, match="has a calibration already"):
        calibrated(f"a100@{file}", file)
    with pytest.raises(Misuse, match="holds no calibration"):
        calibrated("a100", file.with_name("none.json"))
    with pytest.raises(Misuse, match="holds no calibration"):
        gpu(f"a100@{file}.json")
    file.write_text('{"format": 1, "rows": "many"}')
    with pytest.raises(Misuse, match=r"mine.json: a calibration's 'rows' is a whole number"):
        calibrated("a100", file)
    file.write_text('{"format": 1, "dram": 0}')
    with pytest.raises(Misuse, match=r"mine.json: a calibration's 'dram' is a positive number"):
        calibrated("a100", file)


@pytest.mark.parametrize(
    "text", ["a100@", "a100@x", "a100@x:dram", "a100@x:dram=0", "a100@x:magic=2", "a100@x:dram=1,,l2=2"]
)
def test_words_that_are_no_calibration(text: str) -> None:
    with pytest.raises(Misuse):
        gpu(text)


def test_a_gpu_of_ones_own(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        'like = "h100"\nname = "pcie"\nclock_mhz = 1755\nlaunch_us = 2\n[sm]\nl1_latency = 40\ncarveouts = [0, 8192]\n'
        "[sm.rates]\nfma = 64\n",
    )
    found, table = gpu(path), gpu("h100")
    assert (found.clock_mhz, found.sm.l1_latency, found.sm.rates["fma"], found.sm.carveouts) == (
        1755,
        40,
        64,
        (0, 8192),
    )
    assert (found.dram_latency, found.sm.rates["alu"], found.arch) == (
        table.dram_latency,
        table.sm.rates["alu"],
        "sm_90",
    )
    assert (found.called, found.like) == ("pcie", "h100") and "like the NVIDIA H100" in found.title
    assert found.source("clock_mhz") == found.source("sm.rates.fma") and found.source("dram_latency") == table.source(
        "dram_latency"
    )
    assert gpu(found.name) == found and str(tmp_path) not in found.name, "journals do not depend on the file"
    made = with_calibration(found, Calibration("c", "h100", 3, scale=2.0))
    assert gpu(made.name) == made and Settings.for_device(made.name).name == made.name
    Calibration("c", "pcie", 3, scale=2.0).save(tmp_path / "c.json")
    assert gpu(f"{path}@{tmp_path / 'c.json'}").calibration.scale == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clock_mhz = 3", "does not say which GPU of the table yours is like"),
        ('like = "h1000"', "like 'h1000', which is unknown"),
        ('like = "h100"\nclock = 3', "there is no figure 'clock'"),
        ('like = "h100"\nname = "a100"', "'a100' is a GPU of the table"),
        ('like = "h100"\nname = "a b"', "no name of a GPU"),
        ('like = "h100"\nclock_mhz = "fast"', "clock_mhz is 'fast', which is no number"),
        ('like = "h100"\nclock_mhz = 0', "clock_mhz is 0"),
        ('like = "h100"\nclock_mhz = 1.5', "clock_mhz is 1.5"),
        ('like = "h100"\nl2_latency = [1]', "l2_latency is (1,)"),
        ('like = "h100"\n[sm]\nrates = 3', "there is no figure 'sm.rates'"),
        ('like = "h100"\n[sm.rates]\nmagic = 3', "there is no figure 'sm.rates.magic'"),
        ('like = "h100"\nsources = 3', "there is no figure 'sources'"),
        ('like = ', "mine.toml: Invalid value"),
    ],
)  # fmt: skip
def test_files_that_are_no_gpu(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Misuse) as told:
        gpu(toml(tmp_path, text))
    assert said in told.value.message and "mine.toml" in told.value.message and told.value.hint
    with pytest.raises(Misuse, match=r"none.toml cannot be read"):
        gpu(str(tmp_path / "none.toml"))
