"""A YOLO in one file, to read from top to bottom: plain PyTorch and nothing else.

    python examples/yolo_in_one_file.py

It draws its own images, learns to find what is on them in about two minutes on two cores, and says how well it does.
The file has ten steps, and each one needs only the steps before it:

     1. draw      images, and a box around each thing on them
     2. overlap   IoU to compare boxes, CIoU to learn from
     3. anchors   three typical sizes, by k-means
     4. network   from an image to 8 numbers per anchor and cell
     5. decode    from these numbers to boxes
     6. assign    which prediction learns which object
     7. loss      one number to make smaller
     8. NMS       one box per object
     9. AP        one number for how good the boxes are
    10. train     all of it together

Boxes are (x1, y1, x2, y2) in pixels. Comments give the shapes of tensors: B images, G objects of an image, A anchors,
S x S cells, P = A * S * S predictions for an image, K classes, N boxes of any kind.

It is YOLOv3 (arXiv:1804.02767) with one grid instead of three, and two later ideas: boxes learn by CIoU
(arXiv:1911.08287), and objectness learns the IoU of its box. `tests/detector/test_yolo_in_one_file.py` compares each
step with the library.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

CLASSES = ("ellipse", "rectangle", "triangle")
SIDE = 96  # pixels: images are 96 x 96
STRIDE = 16  # pixels: a cell is 16 x 16
CELLS = SIDE // STRIDE  # S = 6: the grid has 6 x 6 cells
ANCHORS = 3  # A: each cell makes three predictions
VALUES = 5 + len(CLASSES)  # of a prediction: x, y, width, height, objectness, and one per class

# ---------------------------------------------------------------------------------------------------------------------
# 1. Draw


def draw() -> tuple[Tensor, Tensor, Tensor]:
    """An image (3, 96, 96) with up to four objects, their boxes (G, 4), and their classes (G,)."""
    background = torch.rand(3, 1, 1)
    image = background.expand(3, SIDE, SIDE).clone()
    y, x = torch.meshgrid(torch.arange(SIDE) + 0.5, torch.arange(SIDE) + 0.5, indexing="ij")  # centres of pixels
    boxes, labels = torch.empty(0, 4), []
    for _ in range(int(torch.randint(1, 5, ()))):
        size = 16 + 32 * torch.rand(2)  # width and height
        corner = (SIDE - size) * torch.rand(2)
        box = torch.cat([corner, corner + size])
        if (iou(box, boxes) > 0.1).any():  # it would hide another object
            continue
        label = int(torch.randint(len(CLASSES), ()))
        u, v = (x - corner[0]) / size[0], (y - corner[1]) / size[1]  # 0 to 1 within the box
        inside = (
            (u - 0.5) ** 2 + (v - 0.5) ** 2 < 0.25,  # ellipse
            (u - 0.5).abs().maximum((v - 0.5).abs()) < 0.5,  # rectangle
            ((u - 0.5).abs() < v / 2) & (v < 1),  # triangle, its tip above
        )[label]
        colour = (background + 0.2 + 0.6 * torch.rand(3, 1, 1)) % 1  # unlike the background
        image = torch.where(inside, colour, image)
        boxes, labels = torch.cat([boxes, box[None]]), [*labels, label]
    return image + 0.05 * torch.randn_like(image), boxes, torch.tensor(labels)


def draw_batch(count: int) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Images (B, 3, 96, 96), and the boxes and classes of each."""
    images, boxes, labels = zip(*(draw() for _ in range(count)), strict=True)
    return torch.stack(images), list(boxes), list(labels)


# ---------------------------------------------------------------------------------------------------------------------
# 2. Overlap


def iou(first: Tensor, second: Tensor) -> Tensor:  # (..., 4) and (..., 4) -> (...)
    """Intersection over union of boxes: 1 if they are equal, 0 if they are apart."""
    corner1 = torch.maximum(first[..., :2], second[..., :2])  # of the intersection
    corner2 = torch.minimum(first[..., 2:], second[..., 2:])
    intersection = (corner2 - corner1).clamp(min=0).prod(dim=-1)  # no negative sides: boxes that are apart
    area1 = (first[..., 2:] - first[..., :2]).prod(dim=-1)
    area2 = (second[..., 2:] - second[..., :2]).prod(dim=-1)
    return intersection / (area1 + area2 - intersection)


def ciou(predicted: Tensor, target: Tensor) -> Tensor:  # (N, 4) and (N, 4) -> (N,)
    """IoU minus two penalties, which have a gradient even where boxes are apart.

    The first penalty is for centres that are apart: their distance, by the diagonal of the smallest box around both.
    The second is for another ratio of width to height.
    """
    overlap = iou(predicted, target)
    size1, size2 = predicted[:, 2:] - predicted[:, :2], target[:, 2:] - target[:, :2]
    around1 = torch.minimum(predicted[:, :2], target[:, :2])
    around2 = torch.maximum(predicted[:, 2:], target[:, 2:])
    diagonal = ((around2 - around1) ** 2).sum(dim=1)
    apart = (((predicted[:, :2] + predicted[:, 2:]) - (target[:, :2] + target[:, 2:])) ** 2).sum(dim=1) / 4
    angle1, angle2 = torch.atan2(size1[:, 0], size1[:, 1]), torch.atan2(size2[:, 0], size2[:, 1])
    shape = 4 / math.pi**2 * (angle1 - angle2) ** 2
    with torch.no_grad():  # a weight, not a value to learn: shape matters more the better boxes overlap
        weight = shape / (1 - overlap + shape).clamp(min=1e-9)
    return overlap - apart / diagonal - weight * shape


# ---------------------------------------------------------------------------------------------------------------------
# 3. Anchors


def shape_iou(sizes1: Tensor, sizes2: Tensor) -> Tensor:  # (N, 2) and (M, 2) -> (N, M)
    """IoU of sizes as if all boxes had one centre: only the shape counts."""
    intersection = torch.minimum(sizes1[:, None], sizes2[None]).prod(dim=-1)
    return intersection / (sizes1.prod(dim=-1)[:, None] + sizes2.prod(dim=-1)[None] - intersection)


def find_anchors(sizes: Tensor, count: int = ANCHORS, rounds: int = 50) -> Tensor:  # (N, 2) -> (A, 2)
    """The most typical sizes, by k-means, the smallest first.

    The distance of k-means is 1 - IoU. Pixels would make errors of large boxes count more than those of small ones.
    """
    anchors = sizes[sizes.prod(dim=1).argsort()][torch.linspace(0, len(sizes) - 1, count + 2).long()[1:-1]]
    for _ in range(rounds):
        nearest = shape_iou(sizes, anchors).argmax(dim=1)  # (N,) the anchor of each size
        anchors = torch.stack([sizes[nearest == number].mean(dim=0) for number in range(count)])
    return anchors[anchors.prod(dim=1).argsort()]


# ---------------------------------------------------------------------------------------------------------------------
# 4. Network


def block(channels: int, out: int, stride: int = 1) -> nn.Sequential:
    """A convolution, normalised; with a stride of 2, it halves the image."""
    return nn.Sequential(
        nn.Conv2d(channels, out, 3, stride, padding=1, bias=False), nn.BatchNorm2d(out), nn.LeakyReLU(0.1)
    )


class Network(nn.Module):
    """Seven convolutions to see, and one to say what is there."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(  # (B, 3, 96, 96)
            block(3, 32, stride=2),  # (B, 32, 48, 48)
            block(32, 64, stride=2),  # (B, 64, 24, 24)
            block(64, 64),
            block(64, 128, stride=2),  # (B, 128, 12, 12)
            block(128, 128),
            block(128, 128, stride=2),  # (B, 128, 6, 6): one place per cell
            block(128, 128),
            nn.Conv2d(128, ANCHORS * VALUES, 1),  # (B, A * 8, 6, 6)
        )

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, 96, 96) -> (B, P, 8): anchor by anchor, in each row by row."""
        maps = self.layers(images).unflatten(1, (ANCHORS, VALUES))  # (B, A, 8, S, S)
        return maps.permute(0, 1, 3, 4, 2).flatten(1, 3)


# ---------------------------------------------------------------------------------------------------------------------
# 5. Decode


def decode(raw: Tensor, anchors: Tensor) -> Tensor:  # (B, P, 8) and (A, 2) -> (B, P, 4)
    """Boxes in pixels from the first four numbers of each prediction.

    The sigmoid keeps the centre in its cell. The exponential makes the size a multiple of the anchor.
    """
    row, column = torch.meshgrid(torch.arange(CELLS), torch.arange(CELLS), indexing="ij")
    cells = torch.stack([column, row], dim=-1).flatten(0, 1).repeat(ANCHORS, 1)  # (P, 2)
    centre = (raw[..., :2].sigmoid() + cells) * STRIDE
    size = raw[..., 2:4].clamp(max=4).exp() * anchors.repeat_interleave(CELLS**2, dim=0)
    return torch.cat([centre - size / 2, centre + size / 2], dim=-1)


# ---------------------------------------------------------------------------------------------------------------------
# 6. Assign


def assign(boxes: Tensor, predicted: Tensor, anchors: Tensor) -> tuple[Tensor, Tensor]:
    """Which object each of the P predictions of an image learns, from (G, 4), (P, 4) and (A, 2).

    An object goes to one prediction: the cell that holds its centre, and the anchor that is most like it. The first
    result, (P,), has the number of the object, or -1 for background. The second, (P,), tells which predictions are
    ignored: they overlap an object well, but it is another prediction's. To call them wrong would confuse the network.
    """
    sizes, centres = boxes[:, 2:] - boxes[:, :2], (boxes[:, :2] + boxes[:, 2:]) / 2
    anchor = shape_iou(sizes, anchors).argmax(dim=1)  # (G,)
    column, row = (centres / STRIDE).long().unbind(dim=1)  # (G,) each
    place = (anchor * CELLS + row) * CELLS + column  # (G,) within 0 ... P - 1
    owner = torch.full((len(predicted),), -1)
    for number in range(len(boxes)):  # of two objects at one place, the later one gets it
        owner[place[number]] = number
    best = iou(predicted[:, None], boxes[None]).amax(dim=1)  # (P,) with any object
    return owner, (best > 0.5) & (owner < 0)


# ---------------------------------------------------------------------------------------------------------------------
# 7. Loss


def loss_of(raw: Tensor, anchors: Tensor, boxes: list[Tensor], labels: list[Tensor]) -> Tensor:
    """How wrong the network is about a batch: (B, P, 8) -> one number, per object."""
    total, objects = torch.zeros(()), 0
    for image, predicted in enumerate(decode(raw, anchors)):
        owner, ignored = assign(boxes[image], predicted.detach(), anchors)
        learns = owner >= 0  # (P,) the predictions with an object
        target = boxes[image][owner[learns]]
        # Box: as near to its object as it can be.
        total = total + 5 * (1 - ciou(predicted[learns], target)).sum()
        # Objectness: how good the box is, which is its IoU with the object; 0 for background.
        wanted = torch.zeros(len(owner))
        wanted[learns] = iou(predicted[learns].detach(), target)
        entropy = functional.binary_cross_entropy_with_logits
        total = total + entropy(raw[image, ~ignored, 4], wanted[~ignored], reduction="sum")
        # Classes: 1 for that of the object, 0 for the others.
        right = functional.one_hot(labels[image][owner[learns]], len(CLASSES)).float()
        total = total + entropy(raw[image, learns, 5:], right, reduction="sum")
        objects += len(target)
    return total / objects


# ---------------------------------------------------------------------------------------------------------------------
# 8. NMS


def nms(boxes: Tensor, scores: Tensor, threshold: float = 0.5) -> Tensor:  # (N, 4) and (N,) -> positions
    """Keeps the best box, removes those that overlap it, and goes on with the rest."""
    kept, waiting = [], scores.argsort(descending=True, stable=True)
    while len(waiting):
        best, others = waiting[0], waiting[1:]
        kept.append(int(best))
        waiting = others[iou(boxes[best], boxes[others]) <= threshold]
    return torch.tensor(kept, dtype=torch.long)


def detect(raw: Tensor, anchors: Tensor, label: int) -> list[tuple[Tensor, Tensor]]:
    """For each image of a batch, the boxes (N, 4) of one class, and their scores (N,)."""
    found = []
    scores = raw[..., 4].sigmoid() * raw[..., 5 + label].sigmoid()  # (B, P): is it an object, and of this class?
    for boxes, score in zip(decode(raw, anchors), scores, strict=True):
        sure = (score > 0.01).nonzero()[:, 0]  # the others would only cost time
        kept = sure[nms(boxes[sure], score[sure])]
        found.append((boxes[kept], score[kept]))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# 9. AP


def average_precision(found: list[tuple[Tensor, Tensor]], objects: list[Tensor], threshold: float = 0.5) -> float:
    """AP of one class, by COCO's rules: from boxes and scores, and objects (G, 4), of each image.

    From the highest score to the lowest, each box takes the object that it overlaps most, if no other box has it. Then
    precision (how many boxes are right) is averaged over recall (how many objects are found).
    """
    ranked = sorted(
        ((float(score), image, box) for image, pair in enumerate(found) for box, score in zip(*pair, strict=True)),
        key=lambda one: -one[0],
    )
    free = [torch.ones(len(boxes)) for boxes in objects]
    right = torch.zeros(len(ranked), dtype=torch.float64)
    for rank, (_, image, box) in enumerate(ranked):
        overlaps = iou(box, objects[image]) * free[image]  # (G,)
        if len(overlaps) and overlaps.max() >= threshold:
            free[image][overlaps.argmax()] = 0
            right[rank] = 1
    recall = right.cumsum(dim=0) / sum(map(len, objects))  # after each box
    precision = right.cumsum(dim=0) / torch.arange(1, len(right) + 1)
    precision = precision.flip(0).cummax(dim=0).values.flip(0)  # the best one at this recall or a higher one
    points = torch.arange(101, dtype=torch.float64) * 0.01  # recall 0, 0.01, ..., 1
    reached = torch.searchsorted(recall, points)  # the first box with that recall; none of them is beyond the last
    return float(torch.cat([precision, torch.zeros(1, dtype=torch.float64)])[reached].mean())


# ---------------------------------------------------------------------------------------------------------------------
# 10. Train


def train(steps: int = 1000, batch: int = 8) -> tuple[Network, Tensor]:
    """A network that has seen ``steps * batch`` images, each once, and its anchors."""
    _, boxes, _ = draw_batch(200)
    anchors = find_anchors(torch.cat([one[:, 2:] - one[:, :2] for one in boxes]))
    print("anchors", ", ".join(f"{width:.0f} x {height:.0f}" for width, height in anchors.tolist()))
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters())
    # The learning rate rises, then falls: first steps should be careful, and last ones exact.
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    for step in range(1, steps + 1):
        images, boxes, labels = draw_batch(batch)
        loss = loss_of(network(images), anchors, boxes, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(f"step {step:4} of {steps}  loss {loss.item():.2f}")
    return network.eval(), anchors


@torch.no_grad()
def evaluate(network: Network, anchors: Tensor, count: int = 200) -> dict[str, float]:
    """AP50 of each class on new images."""
    images, boxes, labels = draw_batch(count)
    raw = network(images)
    return {
        name: average_precision(
            detect(raw, anchors, label), [box[of == label] for box, of in zip(boxes, labels, strict=True)]
        )
        for label, name in enumerate(CLASSES)
    }


def main() -> None:
    """Trains and evaluates."""
    torch.manual_seed(1)
    result = evaluate(*train())
    for name, value in result.items():
        print(f"AP50 {value:.3f}  {name}")
    print(f"AP50 {sum(result.values()) / len(result):.3f}  all")


if __name__ == "__main__":
    main()
