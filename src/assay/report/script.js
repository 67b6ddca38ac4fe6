"use strict";
// Comfort only: what is hidden here stands in the page without a script.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const form = byId("switch");
  if (form) {
    const panels = all(".panel");
    const selects = [...form.querySelectorAll("select")];
    const names = new Set([...form.querySelectorAll("input[type=radio]")].map((radio) => radio.name));
    const fits = (panel, name, value) => !(name in panel.dataset) || panel.dataset[name] === value;
    const show = () => {
      let here = panels.filter((panel) => selects.every(({ id, value }) => fits(panel, id, value)));
      for (const name of names) {
        const held = new Set(here.map((panel) => panel.dataset[name]).filter(Boolean));
        const radios = all(`#switch input[name="${name}"]`);
        for (const radio of radios) radio.disabled = !held.has(radio.value);
        const chosen =
          radios.find((radio) => radio.checked && !radio.disabled) || radios.find((radio) => !radio.disabled);
        if (chosen) chosen.checked = true;
        here = here.filter((panel) => fits(panel, name, chosen?.value));
      }
      for (const panel of panels) panel.hidden = !here.includes(panel);
    };
    form.hidden = false;
    form.addEventListener("change", show);
    form.addEventListener("submit", (event) => event.preventDefault());
    show();
  }

  for (const filter of all(".filter")) {
    const name = filter.id.replace("-form", "");
    const selects = [...filter.querySelectorAll("select")];
    const items = all(`#${name}-list > details`).map((item) => ({ item, text: item.textContent.toLowerCase() }));
    const step = 25;
    let most = step;
    const apply = () => {
      const words = byId(`${name}-text`).value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { item, text } of items) {
        const fits =
          selects.every(({ value, dataset }) => !value || (item.dataset[dataset.name] ?? "").split(" ").includes(value)) &&
          words.every((word) => text.includes(word));
        shown += fits;
        item.hidden = !fits || shown > most;
      }
      const noun = filter.dataset.noun;
      byId(`${name}-count`).textContent = `${shown} ${shown === 1 ? noun : noun.replace(/y$/, "ie") + "s"}`;
      byId(`${name}-more`).hidden = shown <= most;
    };
    const again = () => {
      most = step;
      apply();
    };
    byId(`${name}-more`).addEventListener("click", () => {
      most += 4 * step;
      apply();
    });
    filter.hidden = false;
    filter.addEventListener("input", again);
    filter.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
})();
