// The switch for light and dark, then every part.

function startTheme() {
  const group = byId("theme");
  choice(group, (value) => {
    if (value === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", value);
  });
}

startTheme();
startOperating();
startByIou();
startClassTable();
startViewer();
startMatrix();
startGallery();
document.documentElement.setAttribute("data-ready", "");
