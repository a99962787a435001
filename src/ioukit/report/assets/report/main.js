// Start all parts, after all of them are defined.

const LOOK = outcomesLook(DATA.images.some(({ boxes = [] }) => boxes.some((kind, k) => k % 7 === 0 && kind >= 4)));

startOperating();
startByIou();
startClassTable(CURVES && ((position) => {
  choose({ row: position + 1 });
  byId("curves").scrollIntoView();
  byId("class").focus({ preventScroll: true });
}));
startViewer();
startMatrix();
startGallery(DATA.worst);
document.documentElement.setAttribute("data-ready", "");
