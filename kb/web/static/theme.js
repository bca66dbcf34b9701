// Before anything is drawn: the theme this reader chose, if one was chosen.
(function () {
  "use strict";
  try {
    var theme = localStorage.getItem("kb-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (error) { /* no storage: the system's choice stands */ }
  document.documentElement.classList.add("js");
})();
