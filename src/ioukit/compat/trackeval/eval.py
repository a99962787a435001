"""`trackeval.eval`: trackers of data sets through metrics, with tables and files."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING, Any

from ioukit.compat._originals import keep
from ioukit.compat.trackeval.metrics import Count
from ioukit.compat.trackeval.utils import (
    TrackEvalException,
    init_config,
    write_detailed_results,
    write_summary_results,
)
from ioukit.tracks.measures import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.compat.trackeval.datasets import DataSet

__all__ = ["Evaluator"]

_ALL = "COMBINED_SEQ"


class Evaluator:
    """Evaluates trackers.

    Args:
        config: What differs from `get_default_eval_config`.
    """

    @staticmethod
    def get_default_eval_config() -> dict[str, Any]:
        """The default configuration, with TrackEval's keys."""
        return {
            "USE_PARALLEL": False,
            "NUM_PARALLEL_CORES": 8,
            "BREAK_ON_ERROR": True,
            "RETURN_ON_ERROR": False,
            "LOG_ON_ERROR": None,
            "PRINT_RESULTS": True,
            "PRINT_ONLY_COMBINED": False,
            "PRINT_CONFIG": True,
            "TIME_PROGRESS": True,
            "DISPLAY_LESS_PROGRESS": True,
            "OUTPUT_SUMMARY": True,
            "OUTPUT_EMPTY_CLASSES": True,
            "OUTPUT_DETAILED": True,
            "PLOT_CURVES": True,
        }

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = init_config(config, self.get_default_eval_config(), "Eval")

    def evaluate(
        self,
        dataset_list: Sequence[DataSet],
        metrics_list: Sequence[Any],
        show_progressbar: bool = False,  # noqa: ARG002 - the original's; there is one step per tracker
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Evaluate all trackers of data sets; `Count` is always a metric.

        Args:
            dataset_list: The data sets.
            metrics_list: The metrics.
            show_progressbar: Changes nothing.

        Returns:
            The numbers, as ``results[data set][tracker][sequence][class][metric][name]`` with ``COMBINED_SEQ`` as the
            sequence of all sequences, and ``messages[data set][tracker]``: ``"Success"``, or what was wrong.

        Raises:
            TrackEvalException: If metrics have the same name; with ``BREAK_ON_ERROR``, if a file is invalid.
        """
        metrics = [*metrics_list, Count()]
        names = [metric.get_name() for metric in metrics]
        if len(set(names)) < len(names):
            raise TrackEvalException("Code being run with multiple metrics of the same name")
        results: dict[str, Any] = {}
        messages: dict[str, Any] = {}
        for dataset in dataset_list:
            results[dataset.get_name()], messages[dataset.get_name()] = {}, {}
            trackers, sequences, classes = dataset.get_eval_info()
            print(
                f"\nEvaluating {len(trackers)} tracker(s) on {len(sequences)} sequence(s) for {len(classes)} class(es) "
                f"on {dataset.get_name()} dataset using the following metrics: {', '.join(names)}\n"
            )
            for tracker in trackers:
                print(f"\nEvaluating {tracker}\n")
                try:
                    found, message = self._evaluated(dataset, tracker, metrics), "Success"
                except TrackEvalException as error:
                    found, message = None, str(error)
                    print(f"Tracker {tracker} was unable to be evaluated.\n{error}")
                    if self.config["LOG_ON_ERROR"] is not None:
                        with open(self.config["LOG_ON_ERROR"], "a", encoding="utf-8") as file:
                            file.write(f"{dataset.get_name()}\n{tracker}\n{traceback.format_exc()}\n\n\n\n")
                    if self.config["BREAK_ON_ERROR"]:
                        raise
                results[dataset.get_name()][tracker] = found
                messages[dataset.get_name()][tracker] = message
                if found is None and self.config["RETURN_ON_ERROR"]:
                    return results, messages
        return results, messages

    def _evaluated(self, dataset: DataSet, tracker: str, metrics: Sequence[Any]) -> dict[str, Any]:
        begin = time.perf_counter()
        evaluation = dataset.evaluate(tracker)
        rows = {}
        for name, values in zip(evaluation.categories.names, evaluation.values, strict=True):
            rows[name] = {**dict(zip(evaluation.sequence_names, values, strict=True)), _ALL: together(values)}
            del rows[name][_ALL]["Frames"]  # TrackEval has them of sequences alone
        results = {
            seq: {
                name: {each.get_name(): each.results(rows[name][seq]) for each in metrics}
                for name in dataset.class_list
            }
            for seq in (*evaluation.sequence_names, _ALL)
        }
        if self.config["TIME_PROGRESS"]:
            print(f"\nAll sequences for {tracker} finished in {time.perf_counter() - begin:.2f} seconds")
        for name in results[_ALL]:
            if rows[name][_ALL]["Dets"] or self.config["OUTPUT_EMPTY_CLASSES"]:
                self._show(dataset, tracker, name, metrics, results)
        return results

    def _show(self, dataset: DataSet, tracker: str, name: str, metrics: Sequence[Any], results: dict[str, Any]) -> None:
        """Print the tables of a tracker, and write its files."""
        pairs = [(one, {seq: row[name][one.get_name()] for seq, row in results.items()}) for one in metrics]
        folder = dataset.get_output_fol(tracker)
        if self.config["PRINT_RESULTS"]:
            for metric, table in pairs:
                shown = {_ALL: table[_ALL]} if self.config["PRINT_ONLY_COMBINED"] else table
                metric.print_table(shown, dataset.get_display_name(tracker), name)
        if self.config["OUTPUT_SUMMARY"]:
            write_summary_results([metric.summary_results(table) for metric, table in pairs], name, folder)
        if self.config["OUTPUT_DETAILED"]:
            write_detailed_results([metric.detailed_results(table) for metric, table in pairs], name, folder)


keep(Evaluator)
