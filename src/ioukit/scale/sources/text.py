"""COCO results as sources, and text that cannot be read from the middle.

Owns: which records of a results file are a piece, and the unpacking. Does not own: what a record means
(datasets/columns). Each file is walked once when it is opened, to find where pieces begin, so records keep their
numbers in messages. Text that is packed or lies in a store is one piece, of CSV files too: while it is read, it is
unpacked into a temporary file, and cut there.
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ioukit.datasets.columns.coco_parts import CocoPart, parts_of_results
from ioukit.datasets.columns.detections import detections_of_coco
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import FilePiece, batches_of

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace


_COCO_PART_BYTES = 32 << 20
_LEAST_RECORD_BYTES = 60
"""Of a short record, which has an image, a category, a box and a score."""
_PACKED_ROW_BYTES = 25
"""Of a record in a packed file, about."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CocoPiece(FilePiece):
    """Records of a results file that follow one another."""

    part: CocoPart
    on_invalid: OnInvalid

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`; records have ids."""
        return batches_of(detections_of_coco(self.file.path, self.on_invalid, 1, part=self.part), self.batch_rows)


def pieces_of_coco(
    files: Sequence[FilePlace],
    reading: Reading,
    known: KnownNames,  # noqa: ARG001 - records have ids
    piece_rows: int,
) -> list[CocoPiece]:
    """The pieces of results files, in the order of the files. Each file is read once to find them.

    Raises:
        DatasetError: If a file is no JSON, or no array of detections.
        OSError: If it cannot be read.
    """
    pieces: list[CocoPiece] = []
    size = max(1, min(_COCO_PART_BYTES, piece_rows * _LEAST_RECORD_BYTES))
    for file in files:
        parts, counts = parts_of_results(file.path, reading.on_invalid, lines=None, part_bytes=size)
        for part, count in zip(parts, counts, strict=True):
            name = f"{file.path}: records {part.record} to {part.record + count - 1}"
            pieces.append(CocoPiece(name=name, rows=count, file=file, part=part, on_invalid=reading.on_invalid))
    return pieces


Opener = Callable[..., Sequence[FilePiece]]
"""What cuts files into pieces, see :func:`pieces_of_coco`."""


def pieces_of_text(
    opener: Opener, files: Sequence[FilePlace], reading: Reading, known: KnownNames, piece_rows: int
) -> list[FilePiece]:
    """The pieces of files of text, in their order: what ``opener`` makes, and each packed file as a whole."""
    plain = [file for file in files if file.address is None and not _is_packed(file)]
    pieces = [*opener(plain, reading, known, piece_rows)] if plain else []
    for file in files:
        if file.address is not None or _is_packed(file):
            rows = file.size // (_PACKED_ROW_BYTES if _is_packed(file) else _LEAST_RECORD_BYTES)
            given = functools.partial(opener, reading=reading, piece_rows=piece_rows)
            pieces.append(UnpackedPiece(name=file.path, rows=None, guessed_rows=rows, file=file, opener=given))
    order = {file.path: at for at, file in enumerate(files)}
    return sorted(pieces, key=lambda piece: order[piece.file.path])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class UnpackedPiece(FilePiece):
    """A whole file that is packed or in a store. While it is read, its text is in the folder of temporary files."""

    opener: Opener
    """What cuts the unpacked file."""

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`."""
        with tempfile.TemporaryDirectory(prefix="ioukit-") as folder:
            name = os.path.basename(self.file.path)
            path = os.path.join(folder, name[:-3] if _is_packed(self.file) else name)
            self._unpack(path)
            text = dataclasses.replace(self.file, path=path, size=os.path.getsize(path), address=None)
            try:
                for piece in self.opener([text], known=self.names):
                    for batch in dataclasses.replace(piece, names=self.names, batch_rows=self.batch_rows).read():
                        # The regions of COCO's files are read when they are asked for, and then this file is gone.
                        notes = tuple(note.replace(path, self.file.path) for note in batch.notes)
                        yield dataclasses.replace(batch, source=self.file.path, notes=notes, regions={})
            except DatasetError as error:
                raise DatasetError(str(error).replace(path, self.file.path)) from None

    def _unpack(self, path: str) -> None:
        try:
            with self.file.open() as packed, open(path, "wb") as out:
                text: Any = gzip.GzipFile(fileobj=packed) if _is_packed(self.file) else packed
                shutil.copyfileobj(text, out, 1 << 20)
        except EOFError:
            raise DatasetError(f"{self.file.path}: the gzip file ends too early (is it truncated?)") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            found = f"none, or a damaged one: {error}"
            raise DatasetError(f"{self.file.path}: expected a gzip file, as the name says, found {found}") from None


def _is_packed(file: FilePlace) -> bool:
    return file.path.lower().endswith(".gz")
