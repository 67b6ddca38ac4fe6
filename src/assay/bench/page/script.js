"use strict";
// Comfort only: what is hidden here stands in the page without a script.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const form = byId("switch");
  if (form) {
    const panels = all(".panel");
    const show = () => {
      const view = byId("view").value;
      const here = panels.filter((panel) => panel.dataset.view === view);
      const units = new Set(here.map((panel) => panel.dataset.unit).filter(Boolean));
      const radios = all("#switch input[name=unit]");
      for (const radio of radios) radio.disabled = !units.has(radio.value);
      const chosen = radios.find((radio) => radio.checked && !radio.disabled) || radios.find((radio) => !radio.disabled);
      if (chosen) chosen.checked = true;
      for (const panel of panels) {
        panel.hidden = panel.dataset.view !== view || (panel.dataset.unit && panel.dataset.unit !== chosen?.value);
      }
    };
    form.hidden = false;
    form.addEventListener("change", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  const filter = byId("miss-form");
  if (filter) {
    const items = all("#miss-list > details").map((item) => ({
      item,
      text: item.textContent.toLowerCase(),
      systems: item.dataset.systems.split(" "),
      set: item.dataset.set,
    }));
    const step = 25;
    let most = step;
    const apply = () => {
      const words = byId("miss-text").value.toLowerCase().split(/\s+/).filter(Boolean);
      const system = byId("miss-system").value;
      const set = byId("miss-set")?.value || "";
      let shown = 0;
      for (const each of items) {
        const fits =
          (!system || each.systems.includes(system)) &&
          (!set || each.set === set) &&
          words.every((word) => each.text.includes(word));
        shown += fits;
        each.item.hidden = !fits || shown > most;
      }
      byId("miss-count").textContent = shown + (shown === 1 ? " query" : " queries");
      byId("miss-more").hidden = shown <= most;
    };
    const again = () => {
      most = step;
      apply();
    };
    byId("miss-more").addEventListener("click", () => {
      most += 4 * step;
      apply();
    });
    filter.hidden = false;
    filter.addEventListener("input", again);
    filter.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
})();
