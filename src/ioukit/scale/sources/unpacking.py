"""Text files that are packed, or lie in a store: they are unpacked into a temporary file while they are read."""

from __future__ import annotations

import dataclasses
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ioukit.errors import DatasetError
from ioukit.scale.sources.places import FilePlace
from ioukit.scale.sources.source import Piece

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.source import Cut

__all__ = ["UnpackedPiece", "needs_unpacking"]

_PACKED_ROW_BYTES = 25
"""Of a record in a packed file, about."""


def needs_unpacking(file: FilePlace) -> bool:
    """Whether a file of text cannot be read in parts where it lies."""
    return not file.is_local or file.path.lower().endswith(".gz")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class UnpackedPiece(Piece):
    """A whole file. It needs room for its text in the folder of temporary files while it is read."""

    file: FilePlace
    opener: Callable[[Sequence[FilePlace], Reading, KnownNames, Cut], list[Piece]]
    reading: Reading
    cut: Cut

    @classmethod
    def of(
        cls,
        file: FilePlace,
        opener: Callable[[Sequence[FilePlace], Reading, KnownNames, Cut], list[Piece]],
        reading: Reading,
        cut: Cut,
    ) -> UnpackedPiece:
        """The only piece of a file."""
        packed = file.path.lower().endswith(".gz")
        return cls(
            name=file.path,
            bytes=file.size,
            rows=None,
            batch_rows=cut.batch_rows,
            row_bytes=_PACKED_ROW_BYTES if packed else 60,
            file=file,
            opener=opener,
            reading=reading,
            cut=cut,
        )

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        with tempfile.TemporaryDirectory(prefix="ioukit-") as folder:
            name = os.path.basename(self.file.path)
            path = os.path.join(folder, name[:-3] if name.lower().endswith(".gz") else name)
            self._unpack(path)
            text = dataclasses.replace(self.file, path=path, size=os.path.getsize(path), address=None, inner="")
            try:
                for piece in self.opener([text], self.reading, names, self.cut):
                    for batch in dataclasses.replace(piece, names=names).read():
                        # The regions of COCO's files are read when they are asked for, and then this file is gone.
                        notes = tuple(note.replace(path, self.file.path) for note in batch.notes)
                        yield dataclasses.replace(batch, source=self.file.path, notes=notes, regions={})
            except DatasetError as error:
                raise DatasetError(str(error).replace(path, self.file.path)) from None

    def _unpack(self, path: str) -> None:
        try:
            with self.file.open() as packed, open(path, "wb") as out:
                if not self.file.path.lower().endswith(".gz"):
                    shutil.copyfileobj(packed, out, 1 << 20)
                    return
                if packed.read(2) != b"\x1f\x8b":
                    raise DatasetError(
                        f"{self.file.path}: expected a gzip file, as the name says, found something else"
                    )
                packed.seek(0)
                with gzip.open(packed) as unpacked:
                    shutil.copyfileobj(unpacked, out, 1 << 20)
        except EOFError:
            raise DatasetError(f"{self.file.path}: the gzip file ends too early (is it truncated?)") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DatasetError(f"{self.file.path}: the gzip file is damaged: {error}") from None
