// Every part, once all of them are known.

startOperating();
startByIou();
startClassTable();
startViewer();
startMatrix();
startGallery();
document.documentElement.setAttribute("data-ready", "");
