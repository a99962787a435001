// What the images of a data set show: the object that an image is shown for, other objects, and unusual ones.

const SOME_UNUSUAL = DATA.images.some(({ boxes }) => boxes.some((kind, k) => k % 7 === 0 && kind === 2));

const LOOK = {
  kinds: ["object", "marked", "ignored"],
  order: ["ignored", "object", "marked"],
  scored: [],
  before: {},
  quiet: null,
  switches: [["marked", "the named object", true], ["object", "other objects", true],
    ...(SOME_UNUSUAL ? [["ignored", "crowds, difficult and truncated objects", true]] : [])],
  words: (image) => image.words,
  more: (image) => `, ${image.objects} ${image.objects === "1" ? "object" : "objects"} on the image`,
};
