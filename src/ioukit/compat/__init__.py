"""The names and signatures of other libraries, thin, over ioukit's own.

For code that was written for them: change the import, keep the calls. New code is better off with `ioukit` itself,
whose names say what they take and give; ``docs/compat.md`` has the name there for every name here.

- `ioukit.compat.torchvision_ops`: the box functions of ``torchvision.ops``, on tensors and NumPy arrays.
- `ioukit.compat.detectron2`: ``Boxes``, ``RotatedBoxes``, ``BoxMode`` and the overlaps of ``detectron2.structures``.
- `ioukit.compat.docsaidkit`: the structures and functions of DocsaidKit and of Capybara, its successor.
- `ioukit.compat.pycocotools.mask`: ``pycocotools.mask``, bit for bit.

Each module's docstring lists what differs from the original, and every difference has a test. Nothing is imported here,
and nothing of ioukit imports what is here.
"""

from __future__ import annotations

__all__: list[str] = []
