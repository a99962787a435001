// Start all parts, after all of them are defined.

startPair();
startThresholds();
startParts();
startChanges();
startPairs();
document.documentElement.setAttribute("data-ready", "");
