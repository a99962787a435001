"""JUnit's XML, which shows what an evaluation must reach among the tests of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report.junit_suite import SuiteCase, suite_xml

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation, RequirementResult


def junit_xml(
    evaluation: Evaluation,
    results: Sequence[RequirementResult],
    *,
    name: str = "ioukit",
    created: datetime.datetime | None = None,
    seconds: float = 0.0,
) -> str:
    """The results of requirements as a file of JUnit: a test case for each.

    The properties of the suite are the protocol, the kind of region, and the numbers of the whole evaluation to their
    last bit. An undefined metric fails its test. The document is valid by the schemas of Ant and of Jenkins.

    Args:
        evaluation: The result of `ioukit.evaluate`.
        results: What :func:`ioukit.evaluation.check_requirements` returned.
        name: The name of the suite, and the class of its test cases.
        created: When the tests ran; now if ``None``.
        seconds: How long the evaluation took, within [0, inf).

    Returns:
        The text of an XML document in UTF-8.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> from ioukit.evaluation import Requirement, check_requirements
        >>> gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 50]])
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 50]], scores=[0.9])
        >>> evaluation = evaluate(gt, dt)
        >>> text = junit_xml(evaluation, check_requirements(evaluation, [Requirement("AP", 0.4)]))
        >>> print(text.splitlines()[-5].strip())
        <testcase classname="ioukit" name="AP at least 0.4" time="0.000" />
    """
    known: dict[str, object] = {"protocol": evaluation.protocol.name, "iou_type": evaluation.matches.iou_type}
    cases = [SuiteCase(str(result.requirement), "" if result.met else str(result)) for result in results]
    properties = {**known, **evaluation.metrics(per_class=False)}
    return suite_xml(name, cases, properties, created=created, seconds=seconds)
