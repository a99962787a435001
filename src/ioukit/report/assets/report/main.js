// Start all parts, after all of them are defined.

startOperating();
startByIou();
startClassTable();
startViewer();
startMatrix();
startGallery();
document.documentElement.setAttribute("data-ready", "");
