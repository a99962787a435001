"""`ioukit train`, `val` and `predict`: ids, files, and which errors are one line."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")

from PIL import Image

from ioukit import Detections, GroundTruth, evaluate
from ioukit.cli import train as train_command
from ioukit.datasets.shapes import CLASSES
from ioukit.postprocess import OperatingPoints
from ioukit.torch.detector.checkpoint import load_model
from ioukit.torch.detector.model import Config
from ioukit.torch.detector.predict import predict as results_of
from support.command import run_fresh, run_here

Words: TypeAlias = "list[str | Path]"

SMALL = Config(num_classes=len(CLASSES), image_size=(64, 64), width=0.125, depth=0.1, names=CLASSES)
CPU = ["--device", "cpu"]
ALL = ["--score-threshold", "0", "--iou-threshold", "0.6", *CPU]


@pytest.fixture(scope="module")
def folder(few_images: Path) -> Path:
    return few_images


@pytest.fixture(scope="module")
def renumbered(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The held-out images as a COCO file with other ids, and classes in another order."""
    data = json.loads((folder / "annotations" / "val.json").read_text())
    for image in data["images"]:
        image["id"] += 1000
    for entry in data["annotations"]:
        entry["image_id"] += 1000
        entry["category_id"] = 90 - entry["category_id"]
    for category in data["categories"]:
        category["id"] = 90 - category["id"]
    path = tmp_path_factory.mktemp("renumbered") / "gt.json"
    path.write_text(json.dumps(data))
    return path


class TestOperatingPoints:
    """Files of thresholds, whose classes may have another order than those of the network."""

    def test_are_found_by_name(self, folder: Path, network: Path, tmp_path: Path) -> None:
        images, file = folder / "images" / "val", tmp_path / "points.json"
        model = load_model(network, "cpu")
        answers = [result.boxes for result in results_of(model, images, score_threshold=0, iou_threshold=0.6)]
        labels, scores = (np.concatenate([getattr(one, name) for one in answers]) for name in ("cls", "conf"))
        common = int(np.bincount(labels).argmax())
        best = float(scores[labels == common].max())
        names = CLASSES[::-1]
        for least, most in ((0.0, len(labels)), (best, int((scores[labels == common] == best).sum()))):
            OperatingPoints.of(names, [least if name == CLASSES[common] else np.nan for name in names]).save(file)
            options: Words = ["--iou-threshold", "0.6", "--operating-points", file, *CPU]
            found = run_here("predict", network, images, *options)
            assert found.code in (0, None), found.err
            shown = [line.split("\t")[1] for line in found.out.splitlines()]
            assert set(shown) == {CLASSES[common]}
            assert len(shown) == most if least else 1 < len(shown) <= most

    def test_wrong_use(self, folder: Path, network: Path, tmp_path: Path) -> None:
        file, images = tmp_path / "points.json", folder / "images" / "val"
        OperatingPoints.of(CLASSES[1:], 0.5).save(file)
        base: Words = ["predict", network, images, "--operating-points", file, *CPU]
        for more, message in (
            ([], f"points.json: no category has the name '{CLASSES[0]}'"),
            (["--score-threshold", "0.1"], "--score-threshold and --operating-points are two thresholds"),
        ):
            done = run_here(*base, *more)
            assert (done.code, done.out) == (2, "")
            assert message in done.err
        model = load_model(network, "cpu")
        with pytest.raises(ValueError, match="expected the same classes in the same order"):
            next(results_of(model, images, operating_points=OperatingPoints.of(CLASSES[::-1], 0.5)))
        with pytest.raises(ValueError, match="two thresholds"):
            next(results_of(model, images, operating_points=OperatingPoints.of(CLASSES, 0.5), score_threshold=0.1))


class TestIds:
    def test_of_a_coco_file_by_name(self, folder: Path, network: Path, renumbered: Path, tmp_path: Path) -> None:
        out = tmp_path / "dt.json"
        found = run_here(
            "predict", network, folder / "images" / "val", *ALL, "--json", out, "--ids-from", renumbered
        )  # fmt: skip
        assert found.code in (0, None), found.err
        records = json.loads(out.read_text())
        assert {record["image_id"] for record in records} == {1001, 1002, 1003, 1004}
        assert {record["category_id"] for record in records} <= {90 - number for number in range(1, 8)}
        names = {90 - number: name for number, name in enumerate(CLASSES, start=1)}
        said = [line.split("\t")[1] for line in found.out.splitlines()]
        assert [names[record["category_id"]] for record in records] == said
        evaluate(GroundTruth.from_coco(renumbered), Detections.from_coco(out))

    def test_of_the_data_set_that_was_given(
        self, folder: Path, network: Path, renumbered: Path, tmp_path: Path
    ) -> None:
        """A COCO file as IMAGES gives its own ids, and the numbers of `val`."""
        images: Words = ["--images", folder / "images" / "val"]
        found = run_here("predict", network, renumbered, *images, *ALL, "--json", tmp_path / "dt.json")
        assert found.code in (0, None), found.err
        assert "read val    4 images" in found.err
        evaluated = evaluate(GroundTruth.from_coco(renumbered), Detections.from_coco(tmp_path / "dt.json"))
        by_val = json.loads(run_here("val", network, folder / "data.yaml", *CPU, "--json").out)
        assert evaluated.summary["AP"] == pytest.approx(by_val["summary"]["AP"], abs=1e-3)
        yolo = run_here("predict", network, folder / "data.yaml", *ALL, "--json")
        records = json.loads(yolo.out)
        assert {record["image_id"] for record in records} == {0, 1, 2, 3}
        assert {record["category_id"] for record in records} <= set(range(7))

    def test_counted_from_1_where_nothing_knows_them(self, folder: Path, network: Path) -> None:
        found = run_here("predict", network, folder / "images" / "val", *ALL, "--json")
        assert {record["image_id"] for record in json.loads(found.out)} == {1, 2, 3, 4}
        assert "note image_id and category_id count from 1; use --ids-from to take them from a COCO file\n" in found.err

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--json", "--ids-from", "SMALLER"], "smaller.json lists no image "),
            (["--json", "--ids-from", "OTHER"], "other.json: no category has the name 'star'; did you mean 'stars' or"),
            (["--ids-from", "OTHER"], "--ids-from needs --json"),
            (["--json", "--images", "x"], "--images is for a COCO file"),
            (["--json=out.png"], "--json would write out.png, which has the name of an image"),
            (["--split", "test"], "unknown split 'test'; choose from train, val"),
            (["--device", "abacus"], "the device 'abacus' cannot be used"),
        ],
    )
    def test_wrong_use(
        self, words: list[str], message: str, folder: Path, network: Path, renumbered: Path, tmp_path: Path
    ) -> None:
        data = json.loads(renumbered.read_text())
        for name, changed in (
            ("SMALLER", {**data, "images": data["images"][:-1], "annotations": []}),
            ("OTHER", {**data, "categories": [{**c, "name": c["name"] + "s" * (c["name"] == "star")} for c in
             data["categories"]]}),
        ):  # fmt: skip
            (tmp_path / f"{name.lower()}.json").write_text(json.dumps(changed))
            words = [str(tmp_path / f"{name.lower()}.json") if word == name else word for word in words]
        done = run_here("predict", network, folder / "images" / "val", *CPU, *words)
        assert (done.code, done.out) == (2, "")
        assert message in done.err

    @pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs a file for standard input")
    def test_an_image_from_standard_input(self, folder: Path, network: Path, tmp_path: Path) -> None:
        image = folder / "images" / "val" / "000004.png"
        with image.open("rb") as stdin:
            done = run_fresh("predict", network, "-", *ALL, "--draw", tmp_path / "drawn", stdin=stdin)
        assert done.code == 0, done.err
        named = run_here("predict", network, image, *ALL)
        assert done.out == named.out.replace(str(image), "/dev/stdin")
        assert [path.name for path in (tmp_path / "drawn").iterdir()] == ["stdin.png"]

    @pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs a file for standard input")
    def test_annotations_from_standard_input(self, folder: Path, network: Path) -> None:
        path = folder / "annotations" / "val.json"
        images: Words = ["--images", folder / "images" / "val"]
        with path.open("rb") as stdin:
            piped = run_fresh("val", network, "-", *images, *CPU, "--json", stdin=stdin)
        assert piped.code == 0, piped.err
        assert json.loads(piped.out)["summary"] == json.loads(
            run_here("val", network, path, *images, *CPU, "--json").out
        )["summary"]  # fmt: skip


class TestFiles:
    def test_json_to_a_file_prints_the_tables_too(self, folder: Path, network: Path, tmp_path: Path) -> None:
        plain = run_here("val", network, folder / "data.yaml", *CPU)
        both = run_here("val", network, folder / "data.yaml", *CPU, "--json", tmp_path / "out.json")
        assert both.out == plain.out
        printed = run_here("val", network, folder / "data.yaml", *CPU, "--json")
        assert json.loads((tmp_path / "out.json").read_text()) == json.loads(printed.out)

    def test_inputs_are_never_overwritten(self, folder: Path, network: Path, tmp_path: Path) -> None:
        copy = Path(shutil.copytree(folder, tmp_path / "copy"))
        before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
        images = copy / "images" / "val"
        wrong: list[Words] = [
            ["val", network, copy / "data.yaml", "--json", copy / "data.yaml"],
            ["predict", network, copy / "data.yaml", "--json", copy / "data.yaml"],
            ["predict", network, images, "--draw", images],
            ["predict", network, images, "--draw", tmp_path / "copy" / "images" / "train" / ".." / "val"],
        ]
        for words in wrong:
            done = run_here(*words, *CPU)
            assert done.code == 2
            assert "is an input and would be overwritten" in done.err
        assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before

    def test_drawings_of_one_name_are_refused(self, folder: Path, network: Path, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            shutil.copy(folder / "images" / "val" / "000004.png", tmp_path / name / "1.png")
        done = run_here("predict", network, tmp_path / "a", tmp_path / "b", *CPU, "--draw", tmp_path / "drawn")
        assert done.code == 2
        assert re.search(r"a/1\.png and .*b/1\.png would both be drawn to .*drawn/1\.png", done.err)
        assert not (tmp_path / "drawn").exists()

    def test_missing_files_offer_near_names(self, folder: Path, network: Path) -> None:
        near = network.with_name("nett.safetensors")
        wrong: list[tuple[Words, Path]] = [
            (["predict", near, folder / "images"], network),
            (["val", network, folder / "dat.yaml"], folder / "data.yaml"),
            (["predict", network, folder / "images" / "vall"], folder / "images" / "val"),
            (
                ["val", network, folder / "annotations" / "val.json", "--images", folder / "image" / "val"],
                folder / "images" / "val",
            ),
            (["train", folder / "dat.yaml", "-o", folder / "none"], folder / "data.yaml"),
        ]
        for words, name in wrong:
            done = run_here(*words)
            assert done.code == 2
            assert f"; did you mean '{name}'?" in done.err, words


class TestDefects:
    """What is wrong with options and data is one line; a defect keeps its traceback."""

    SHORT = ("--epochs", "1", "--batch", "4", "--size", "64", "--width", "0.125", "--depth", "0.1", *CPU)

    @staticmethod
    def defect(*_: object, **__: object) -> Any:
        raise ValueError("operands could not be broadcast together")

    @pytest.mark.parametrize(
        "place", ["train.evaluate", "train.save_state", "learning.Learning.forward", "train.Run._one_step"]
    )
    def test_of_a_training(self, place: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(f"ioukit.torch.detector.{place}", self.defect)
        with pytest.raises(ValueError, match="broadcast"):
            run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *self.SHORT)

    @pytest.mark.parametrize("command", ["val", "predict", "train"])
    def test_of_reading_and_finding(
        self, command: str, folder: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words: Words = [network, folder / "data.yaml"]
        if command == "train":
            words = [folder / "data.yaml", "-o", tmp_path / "run"]
        with monkeypatch.context() as patched:
            patched.setattr("ioukit.torch.detector.data._yolo_labels", self.defect)
            with pytest.raises(ValueError, match="broadcast"):
                run_here(command, *words)
        monkeypatch.setattr("ioukit.torch.detector.predict.filter_detections", self.defect)
        with pytest.raises(ValueError, match="broadcast"):
            run_here(command, *words, *(self.SHORT if command == "train" else CPU))

    def test_a_loss_that_is_not_finite_is_one_line(self, folder: Path, tmp_path: Path) -> None:
        long = (*self.SHORT, "--epochs", "3", "--lr", "1e30")
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *long, "--evaluate-every", "3")
        assert done.code == 2
        assert re.search(r"Error: the loss is (nan|inf) in epoch \d, step 1: try a lower learning rate", done.err)
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "other", *long)
        assert done.code == 2
        assert "Error: the outputs of the network are not finite: did its training diverge?" in done.err

    def test_a_used_folder_is_refused_before_anything_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "mine.txt").touch()
        used = run_here("train", tmp_path / "none.yaml", "-o", tmp_path / "run")
        assert (used.code, "is not empty: name a new folder, or resume" in used.err) == (2, True)
        empty = run_here("train", tmp_path / "none.yaml", "-o", tmp_path / "new", "--resume")
        assert (empty.code, "there is nothing to resume" in empty.err) == (2, True)

    def test_evaluating_on_the_training_images_is_noted(self, folder: Path, tmp_path: Path) -> None:
        coco = [folder / "annotations" / "train.json", "--images", folder / "images" / "train"]
        words: list[list[Any]] = [[*coco], [folder / "data.yaml"]]
        noted = [
            "note val    these are the training images"
            in run_here("train", *data, "-o", tmp_path / f"{k}", *self.SHORT).err
            for k, data in enumerate(words)
        ]
        assert noted == [True, False]

    def test_weights_of_another_shape(self, folder: Path, network: Path, tmp_path: Path) -> None:
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *self.SHORT, "--weights", network)
        assert done.code == 2
        assert "start_from is a network of another shape: it has head 'anchor', not 'free'" in done.err
        assert not (tmp_path / "run").exists()

    @pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
    def test_curves_have_the_permissions_of_any_new_file(self, folder: Path, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib", reason="the curves need matplotlib: pip install 'ioukit[plots]'")
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *self.SHORT)
        assert done.code in (0, None), done.err
        (tmp_path / "plain").touch()
        assert (tmp_path / "run" / "curves.png").stat().st_mode == (tmp_path / "plain").stat().st_mode


class TestQuick:
    def test_its_options_are_defaults_and_shapes_are_drawn_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(train_command._QUICK_SHAPES, "images", 22)
        small = ["--size", "32", "--width", "0.125", "--depth", "0.1", "--epochs", "1", "--set", "flip=0", *CPU]
        first = run_here("train", "--quick", "-o", tmp_path / "run", *small)
        assert first.code in (0, None), first.err
        assert first.err.splitlines()[:2] == [
            "quick  about two minutes on two cores", f"drew 22 images into {tmp_path / 'run-shapes'}"
        ]  # fmt: skip
        settings = json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]
        assert (settings["batch"], settings["epochs"]) == (8, 1)
        assert settings["augmentation"]["flip"] == 0
        predict = first.err.splitlines()[-1].removeprefix("next  ioukit ").split()
        assert run_here(*predict, *CPU).code in (0, None)
        assert len(list((tmp_path / "run-drawn").iterdir())) == 2
        (tmp_path / "run").rename(tmp_path / "other")
        assert "drew" not in run_here("train", "--quick", "-o", tmp_path / "run", *small).err.partition("read train")[0]

    def test_without_data(self, tmp_path: Path) -> None:
        done = run_here("train", "-o", tmp_path / "run")
        assert (done.code, "DATA: expected a path, or --quick, which draws images" in done.err) == (2, True)

    @pytest.mark.slow
    def test_right_boxes_after_two_minutes(self, tmp_path: Path) -> None:
        # Threads that wait for each other beside other work cost many times their gain.
        done = run_fresh("train", "--quick", "-o", tmp_path / "run", *CPU, env={**os.environ, "OMP_NUM_THREADS": "1"})
        assert done.code == 0, done.err
        with open(tmp_path / "run" / "log.csv", encoding="utf-8", newline="") as file:
            assert float(list(csv.DictReader(file))[-1]["AP50"]) >= 0.5


class TestSet:
    def test_a_setting_without_an_option(self, folder: Path, tmp_path: Path) -> None:
        words = ("ema=0.5", "scale=0", "scale=0.25", "amp=0", "plain_epochs=0")
        changes = ["--multi-scale", *(part for word in words for part in ("--set", word))]
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", *TestDefects.SHORT, *changes)
        assert done.code in (0, None), done.err
        settings = json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]
        assert (settings["ema"], settings["augmentation"]["scale"]) == (0.5, 0.25)
        assert (settings["multi_scale"], settings["amp"], settings["plain_epochs"]) == (True, False, 0)

    @pytest.mark.parametrize(
        ("word", "message"),
        [
            ("emma=1", "unknown setting 'emma'; choose from final_lr, weight_decay, "),
            ("ema", "expected ema=NUMBER from 0 to 1, got 'ema'"),
            ("amp=yes", "expected amp=WHOLE NUMBER from 0 to 1, got 'amp=yes'"),
            ("plain_epochs=2.5", "expected plain_epochs=WHOLE NUMBER from 0 to 1000, got 'plain_epochs=2.5'"),
            ("save_step=9", "brightness; did you mean 'save_steps'?"),
            ("flip=2", "expected flip=NUMBER from 0 to 1, got 'flip=2'"),
            ("warmup=nan", "expected warmup=NUMBER from 0 to 1000, got 'warmup=nan'"),
        ],
    )
    def test_a_wrong_one(self, word: str, message: str, folder: Path, tmp_path: Path) -> None:
        done = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", "--set", word)
        assert (done.code, message in done.err) == (2, True)


class TestNothingFound:
    def test_the_best_score_is_said(self, folder: Path, network: Path) -> None:
        images = folder / "images" / "val"
        best = max(result.best_score for result in results_of(load_model(network, "cpu"), images, score_threshold=1))
        assert 0 < best < 0.25
        done = run_here("predict", network, images, *CPU)
        assert (done.code or 0, done.out) == (0, "")
        assert "found 0 boxes in 4 images" in done.err
        assert f"the highest score of all images is {best:.2g}, and no box reaches 0.25: a lower" in done.err
        least = run_here("predict", network, images, *CPU, "--score-threshold", str(best * 0.999))
        assert len(least.out.splitlines()) >= 1
        assert "highest score" not in least.err


class TestDrawing:
    def test_the_command_draws_every_image(self, folder: Path, network: Path, tmp_path: Path) -> None:
        done = run_here(
            "predict", network, folder / "images" / "val", *CPU, "--score-threshold", "0", "--max-dets", "5",
            "--draw", tmp_path,
        )  # fmt: skip
        assert done.code in (0, None), done.err
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"00000{number}.png" for number in range(4, 8)]
        assert np.asarray(Image.open(tmp_path / "000004.png")).shape == (64, 64, 3)
