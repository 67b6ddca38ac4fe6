"use strict";
// The chosen theme, before anything is painted: light, dark, or as the system has it.
(() => {
  const themes = ["auto", "light", "dark"];
  const names = { auto: "As the system", light: "Light", dark: "Dark" };
  const signs = { auto: "◐", light: "○", dark: "●" };
  const held = () => {
    try {
      const theme = localStorage.getItem("assay-theme");
      return themes.includes(theme) ? theme : "auto";
    } catch {
      return "auto"; // no storage: the choice holds for this page
    }
  };
  let theme = held();
  const show = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.textContent = signs[theme];
    button.title = `Theme: ${names[theme].toLowerCase()}`;
    button.setAttribute("aria-label", button.title);
  };
  show();
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try {
        localStorage.setItem("assay-theme", theme);
      } catch {
        // as above
      }
      show();
    });
    show();
  });
})();
