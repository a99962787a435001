// The table of the data sets is sorted and filtered; then the page is ready.

startClassTable(null, "data set");
startHints();
document.documentElement.setAttribute("data-ready", "");
