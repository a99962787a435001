from __future__ import annotations

import io
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit.report import _picture_files
from ioukit.viewer.images import photographs as shown_photographs
from ioukit.viewer.images.photographs import MissingPictureError, Photographs
from ioukit.viewer.images.thumbnails import Thumbnails

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[view]'")


def photographs(
    folder: Path | None, names: Sequence[str], size: tuple[float, float] = (80, 60), store: Any = None
) -> Photographs:
    return Photographs(folder, names, np.full((len(names), 2), size, float), store)


def test_a_name_without_suffix_is_that_of_a_picture(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("000000183709.jpg", "a/b.PNG", "c.txt", "d.e.jpg"):
        halves().save(tmp_path / name, "PNG")
    names = ["000000183709", "a/b", "a", "c", "d.e", "/elsewhere/000000183709", "../b"]
    found = photographs(tmp_path, names)
    assert [found.has(at) for at in range(len(names))] == [True, True, False, False, False, True, False]
    assert pixels(found.full(0).content).shape == (60, 80, 3)


def pixels(content: bytes) -> Any:
    return np.asarray(image_module.open(io.BytesIO(content)).convert("RGB")).astype(int)


def halves(mode: str = "RGB") -> Any:
    """Left blue or dark, right red or bright."""
    image = image_module.new("RGB", (80, 60), "red")
    image.paste("blue", (0, 0, 40, 60))
    return image.convert(mode)


@pytest.mark.parametrize(
    ("mode", "form", "kind"),
    [
        *(("RGB", "JPEG", "image/jpeg"), ("L", "JPEG", "image/jpeg"), ("CMYK", "JPEG", "")),
        *((mode, "PNG", "image/png") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
        *(("I;16", "PNG", ""), ("RGB", "WEBP", "image/webp"), ("P", "GIF", "image/gif")),
        *((mode, "TIFF", "") for mode in ("RGB", "I;16", "F", "CMYK", "L")),
        *((mode, "BMP", "") for mode in ("RGB", "P")),
    ],
)
def test_what_browsers_show_is_sent_as_it_is_and_the_rest_as_jpeg(
    tmp_path: Path, mode: str, form: str, kind: str
) -> None:
    if mode in ("I;16", "F"):
        values = np.full((60, 80), 1200.0)
        values[:, :40] = 900
        image = image_module.fromarray(values.astype(np.uint16 if mode == "I;16" else np.float32))
    else:
        image = halves(mode)
    image.save(tmp_path / "a", form)
    found = photographs(tmp_path, ["a"])
    whole, small = found.full(0), found.small(0, 320)
    assert whole.kind == (kind or "image/jpeg")
    assert (whole.content == (tmp_path / "a").read_bytes()) == bool(kind)
    assert small.kind == "image/jpeg"
    expected = None if mode in ("I;16", "F") else np.asarray(image.convert("RGB")).astype(int)
    for made in (whole, small):
        shown = pixels(made.content)
        assert shown.shape == (60, 80, 3)
        if expected is None:  # from black, the lowest value, to white
            assert shown[30, 10].max() < 8
            assert shown[30, 70].min() > 247
        else:
            rows = slice(20, 40)  # dots of black and white are smoother in a JPEG
            for columns in (slice(5, 35), slice(45, 75)):
                assert np.abs(shown[rows, columns].mean((0, 1)) - expected[rows, columns].mean((0, 1))).max() < 6
    assert found.words(0) is None


def test_what_is_transparent_is_white_in_a_small_copy(tmp_path: Path) -> None:
    image = image_module.new("RGBA", (80, 60), (0, 0, 0, 0))
    image.save(tmp_path / "a.png")
    assert (pixels(photographs(tmp_path, ["a.png"]).small(0, 160).content) == 255).all()


def test_small_copies_have_few_sizes_and_no_exif(tmp_path: Path) -> None:
    exif = image_module.Exif()
    exif[270] = "where it was taken"
    image_module.effect_noise((900, 600), 50).convert("RGB").save(tmp_path / "a.jpg", exif=exif)
    found = photographs(tmp_path, ["a.jpg"], (900, 600))
    assert b"where it was taken" in (tmp_path / "a.jpg").read_bytes()
    sizes = {}
    for side in (1, 160, 161, 320, 640, 1280, 99999):
        content = found.small(0, side).content
        assert b"where it was taken" not in content
        sizes[side] = image_module.open(io.BytesIO(content)).size
    assert sizes[1] == sizes[160] == (160, 107)
    assert sizes[161] == sizes[320] == (320, 213)
    assert sizes[640] == (640, 427)
    assert sizes[1280] == sizes[99999] == (900, 600)  # never larger than the photograph


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("turned", [False, True])
def test_a_photograph_is_turned_where_its_boxes_are(tmp_path: Path, orientation: int, *, turned: bool) -> None:
    exif = image_module.Exif()
    exif[274] = orientation
    halves().save(tmp_path / "a.jpg", exif=exif, quality=95)
    size = (60, 80) if turned else (80, 60)
    found = photographs(tmp_path, ["a.jpg"], size)
    turns = turned and orientation >= 5
    assert (found.words(0) is None) == (turns or not turned)
    for content in (found.full(0).content, found.small(0, 640).content):
        shown = image_module.open(io.BytesIO(content))
        # A browser turns by the orientation that is left.
        assert shown.getexif().get(274, 1) == 1
        assert shown.size == ((60, 80) if turns else (80, 60))
    middle = pixels(found.full(0).content)
    first = middle[10, 30] if turns else middle[30, 10]
    blue_first = not turns or orientation in (5, 6)
    assert (first[2] > first[0]) == blue_first


def test_another_size_than_that_of_the_data_is_said(tmp_path: Path) -> None:
    halves().save(tmp_path / "a.png")
    words = photographs(tmp_path, ["a.png"], (800, 600)).words(0)
    assert words is not None
    assert "80 x 60" in words
    assert "800 x 600" in words
    assert photographs(tmp_path, ["a.png"], (np.nan, np.nan)).words(0) is None


def test_why_there_is_no_photograph_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.jpg").write_text("no picture")
    image_module.effect_noise((800, 600), 50).save(tmp_path / "whole.jpg")
    (tmp_path / "half.jpg").write_bytes((tmp_path / "whole.jpg").read_bytes()[:20_000])
    found = photographs(tmp_path, ["text.jpg", "missing.jpg", "", "half.jpg"], (800, 600))
    said = [str(found.words(at)) for at in range(4)]
    assert "no picture of a known format" in said[0]
    assert "not in the folder" in said[1]
    assert "not in the folder" in said[2]
    assert "cannot be read" in said[3]
    assert [found.has(at) for at in range(4)] == [True, False, False, True]
    monkeypatch.setattr(shown_photographs, "_MOST_BYTES", 1 << 20)
    with open(tmp_path / "whole.jpg", "ab") as file:
        file.truncate((1 << 20) + 1)
    large = photographs(tmp_path, ["whole.jpg"], (800, 600))
    with pytest.raises(MissingPictureError, match="the file has more than 1 MiB"):
        large.full(0)
    without = photographs(None, ["a.jpg"])
    assert without.words(0) is None
    assert not without.has(0)
    with pytest.raises(MissingPictureError, match="--images"):
        without.small(0, 320)


def test_a_changed_photograph_is_read_again(tmp_path: Path) -> None:
    store = Thumbnails(tmp_path / "cache")
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "a.png")
    found = photographs(tmp_path, ["a.png"], store=store)
    before, tag = found.small(0, 320), found.tag(0, 320)
    assert len({tag, found.tag(0, 640), found.tag(0, None)}) == 3
    assert found.tag(0, 300) == tag
    assert found.small(0, 320) == before
    image_module.new("RGB", (80, 61), "green").save(tmp_path / "a.png")
    assert found.tag(0, 320) != tag
    assert (pixels(found.small(0, 320).content)[30, 30] - [0, 128, 0]).max() < 5


def test_threads_read_at_once_and_warnings_stay_as_they_are(tmp_path: Path) -> None:
    import warnings  # noqa: PLC0415 - its state is what is tested

    names = [f"{number}.png" for number in range(40)]
    for number, name in enumerate(names):
        image_module.new("RGB", (80, 60), (number, 0, 0)).save(tmp_path / name)
    found = photographs(tmp_path, names)
    before = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(found.full, [*range(40)] * 5))
    assert [int(pixels(one.content)[0, 0, 0]) for one in made] == [*range(40)] * 5
    assert list(warnings.filters) == before


def plainly_stretched(values: Any) -> Any:
    """From the lowest finite value, 0, to the highest, 255."""
    finite = values[np.isfinite(values)].astype(float)
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    shares = np.clip((values.astype(float) - low) / max(high - low, 1e-300), 0, 1)
    return np.round(255 * np.where(np.isnan(shares), 0, shares)).astype(int)


@pytest.mark.parametrize("kind", [np.uint16, np.int32, np.float32])
def test_deep_pixels_are_stretched_a_strip_at_a_time(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_picture_files, "_PIXELS_AT_ONCE", 200)
    rng = np.random.default_rng(3)
    for width, height in ((1, 1), (7, 90), (90, 7), (300, 3)):
        values: Any = (rng.random((height, width)) * 60_000).astype(kind)
        if kind is np.float32:
            values[rng.random(values.shape) < 0.1] = np.nan
            values[rng.random(values.shape) < 0.1] = np.inf
            values[0, 0] = -np.inf
        made = np.asarray(_picture_files.as_rgb(image_module.fromarray(values))).astype(int)
        assert np.array_equal(made, plainly_stretched(values)[:, :, None].repeat(3, axis=2))


@pytest.mark.parametrize("kind", [np.uint16, np.float32])
def test_a_small_copy_of_deep_pixels_needs_little_memory(tmp_path: Path, kind: type) -> None:
    values: Any = np.zeros((4000, 4000), kind)
    values[:, 2000:] = 40_000
    image_module.fromarray(values).save(tmp_path / "a.tiff")
    found = photographs(tmp_path, ["a.tiff"])
    tracemalloc.start()
    small = found.small(0, 320)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20
    assert pixels(small.content).shape == (320, 320, 3)
    assert abs(pixels(small.content)[100, [20, 300], 0] - [0, 255]).max() < 5


def test_the_size_of_a_png_is_known_without_its_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exif = image_module.Exif()
    exif[274] = 6
    halves().save(tmp_path / "plain.png")
    halves().save(tmp_path / "turned.png", exif=exif)
    content = (tmp_path / "turned.png").read_bytes()
    start = content.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(content[start : start + 4], "big")
    last = content.index(b"IEND") - 4
    if end < last:  # behind the pixels, as the standard allows
        content = content[:start] + content[end:last] + content[start:end] + content[last:]
    (tmp_path / "late.png").write_bytes(content)
    (tmp_path / "cut.png").write_bytes((tmp_path / "plain.png").read_bytes()[:60])
    found = photographs(tmp_path, ["plain.png", "turned.png", "late.png"], (60, 80))
    assert [found.size(at) for at in range(3)] == [(80, 60), (60, 80), (60, 80)]
    assert photographs(tmp_path, ["cut.png"]).size(0) == (80, 60)

    def refused(_: Any) -> None:
        raise AssertionError("the pixels were read")

    monkeypatch.setattr("PIL.PngImagePlugin.PngImageFile.load", refused)
    assert [found.size(at) for at in range(2)] == [(80, 60), (60, 80)]
