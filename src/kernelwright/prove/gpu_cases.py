"""The training cases of a workload on a real GPU, in a process of their own that NVIDIA's checker can watch.

    trial = Watched(subject, originals)      # for Prover(..., sanitizer=trial); raises ToolError where it cannot be made
    python -m kernelwright.prove.gpu_cases TASK # what it runs: exit code 0 when all cases ran to their end

An original in which the checker finds something is no measure for a variant: then the check is not made, and says why.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.device.arena import Arena
from kernelwright.device.real_gpu.availability import require_gpu
from kernelwright.device.real_gpu.cuda_executor import CudaExecutor
from kernelwright.device.real_gpu.worker import CudaWorker
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Modules, Runner, Stopped
from kernelwright.evaluate.outcome import Outcome, Rejected
from kernelwright.evaluate.workload.subject import Subject
from kernelwright.ir import parse_module, print_module
from kernelwright.prove.sanitizer import TOOLS, find_sanitizer, sanitize

TIMEOUT_S = 120.0
"""Of all cases under one tool."""
LONGEST_S = 2 * len(TOOLS) * TIMEOUT_S
"""That a trial may take: of the original, and of a variant."""


class Watched:
    """Runs the cases on GPU ``ordinal`` under each of NVIDIA's tools. Raises ``ToolError`` and ``DeviceError`` without a GPU,
    or without compute-sanitizer."""

    def __init__(self, subject: Subject, original: Modules, *, ordinal: int = 0, cuda_path: Path | None = None) -> None:
        find_sanitizer(cuda_path)
        require_gpu(ordinal)
        self._subject = subject
        self._original = original
        self._ordinal = ordinal
        self._cuda_path = cuda_path
        self._trouble: str | None = None

    def __call__(self, modules: Modules) -> Outcome:
        """What the tools say of the program with these kernels. Raises ``ToolError`` when the original does not pass."""
        if self._trouble is None:
            outcome = self._run(self._original)
            self._trouble = outcome.reason if isinstance(outcome, Rejected) else ""
        if self._trouble:
            raise ToolError(f"the original itself does not pass: {self._trouble}", hint="fix the program first")
        return self._run(modules)

    def _run(self, modules: Modules) -> Outcome:
        texts = {kernel: print_module(module) for kernel, module in modules.items()}
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            task = Path(folder) / "task"
            task.write_bytes(pickle.dumps((self._subject, texts, self._ordinal)))
            command = [sys.executable, "-m", "kernelwright.prove.gpu_cases", str(task)]
            return sanitize(command, cuda_path=self._cuda_path, timeout_s=TIMEOUT_S)


def main(argv: Sequence[str]) -> int:
    """Runs every case once; the reason on stderr when one stops."""
    subject, texts, ordinal = pickle.loads(Path(argv[0]).read_bytes())
    workload = subject.workload()
    modules = {kernel: parse_module(text) for kernel, text in texts.items()}
    try:
        with CudaWorker(ordinal) as worker:
            executor = CudaExecutor(worker)
            for case in workload.in_process:
                with case.arena() if isinstance(case, RecordedCase) else Arena() as arena:
                    case.run(Runner(modules, executor, arena), workload.kernel)
    except (Stopped, KernelwrightError) as stopped:
        print(stopped.rejected if isinstance(stopped, Stopped) else stopped.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
