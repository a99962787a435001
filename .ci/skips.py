"""Which tests skipped, read from the JUnit files that pytest writes.

python .ci/skips.py tests REPORT          the tests that skipped, and that another environment may run
python .ci/skips.py check REPORT ...      fails if a test skipped in every report, for a reason that ALLOWED lacks
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

# Reasons to skip in every environment, and why. A package that is not installed is none: it belongs into
# environments/everything.txt.
ALLOWED = {
    # The machine.
    r"(torch sees |cupy sees )?no CUDA device.*|no NCCL|cupy is not installed": "CI has no GPU: pytest -m gpu",
    r"root may write everywhere": "the tests run as root in some containers, and as a user elsewhere",
    r"needs a browser on the PATH: .*": "where a browser can neither be found nor be installed",
    r"this browser does not say that it has no mouse": "not every Chromium can act as a phone",
    r"Ray's monitor counts the memory of all processes: .*": "by hand: what else the machine does decides the result",
    r"Spark needs Java": "where Java can neither be found nor be installed",
    r"needs IPv6": "not every container has it",
    # The licence: this comparison is made by hand, and the project never installs the package.
    r"could not import 'ultralytics'.*": "Ultralytics is under the AGPL",
    # What cannot be installed beside the newest versions of the others: these comparisons are made by hand, too.
    r"could not import 'nuscenes.*": "nuscenes-devkit needs NumPy below 2",
    r"could not import 'sam3[.].*": "SAM 3 needs NumPy below 2.4",
    r"could not import 'mmcv'.*": "MMCV has to be compiled",
    r"could not import 'fiftyone.*": "FiftyOne brings a database and the exact versions of a web server",
    # What a test finds out about a case while it runs.
    r"evaluate refuses boxes with negative sides": "random cases have some, and another function has no answer",
    r"files of COCO hold no boxes with negative sides": "random cases have some, and a file cannot hold them",
    r"needs other columns: .*": "a protocol may need columns that the data set of this test lacks",
    r"Ray is installed": "the test is about Ray's absence, and runs in the environment of the README",
}


class Report:
    """The tests of one run: which passed, and why the others skipped."""

    def __init__(self, path: str) -> None:
        self.passed: set[str] = set()
        self.skipped: dict[str, str] = {}
        for case in ET.parse(path).getroot().iter("testcase"):
            # A file that skips as a whole is one case, which has the file's name and no class.
            name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
            skipped = case.find("skipped")
            if all(case.find(kind) is None for kind in ("skipped", "failure", "error")):
                self.passed.add(name)
            elif skipped is not None and skipped.get("type") != "pytest.xfail":
                self.skipped[name] = skipped.get("message", "")


def is_allowed(reason: str) -> bool:
    """Whether a test may skip everywhere for this reason."""
    return any(re.fullmatch(pattern, reason, re.DOTALL) for pattern in ALLOWED)


def file_of(name: str) -> str:
    """The file of a test: `tests.cli.test_nms.TestClass::test_name` is in `tests/cli/test_nms.py`."""
    parts = name.partition("::")[0].split(".")
    for end in range(len(parts), 0, -1):
        path = Path(*parts[:end]).with_suffix(".py")
        if path.is_file():
            return path.as_posix()
    raise SystemExit(f"the report names the test {name}, and there is no file of it here")


def list_tests(report: Report) -> int:
    """Prints what pytest calls the tests that skipped and may not skip everywhere, each on a line."""
    for name in sorted(name for name, why in report.skipped.items() if not is_allowed(why)):
        file = file_of(name)
        inside, _, test = name.removeprefix(file.removesuffix(".py").replace("/", ".")).partition("::")
        # A file that skipped as a whole is the name of its module.
        print("::".join([file, *filter(None, inside.split(".")), test]) if test else file)
    return 0


def check(reports: list[Report]) -> int:
    """Prints how often each reason was met, and the tests that skipped everywhere and should not have."""
    passed = set.union(*(report.passed for report in reports))
    met = {file_of(name) for report in reports for name in (*report.passed, *report.skipped) if "::" in name}
    skipped = {
        name: why
        for report in reports
        for name, why in report.skipped.items()
        # A file that skipped as a whole in one environment is met if another collects it: each test has a reason then.
        if name not in passed and ("::" in name or file_of(name) not in met)
    }
    print(f"{len(passed)} tests passed, {len(skipped)} skipped in every environment")
    for why, count in sorted(Counter(skipped.values()).items()):
        print(f"{count:6} {'' if is_allowed(why) else 'NOT ALLOWED: '}{why}")
    wrong = sorted(name for name, why in skipped.items() if not is_allowed(why))
    if wrong:
        print("These tests ran in no environment. A package belongs into .ci/environments/everything.txt, and another")
        print("reason into ALLOWED of .ci/skips.py:", *wrong, sep="\n  ")
    return bool(wrong)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["tests", path]:
            sys.exit(list_tests(Report(path)))
        case ["check", *paths] if paths:
            sys.exit(check([Report(path) for path in paths]))
        case _:
            sys.exit(__doc__)
