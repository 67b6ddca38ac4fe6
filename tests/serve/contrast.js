// The lowest contrast of each kind of element that shows text, against what is behind it: [name, ratio, text, colour].
() => {
  const parsed = (text) => text.match(/[\d.]+/g).map(Number);
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = (element) => {
    for (let here = element; here; here = here.parentElement) {
      const colour = parsed(getComputedStyle(here).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
      if (colour[3] > 0) throw new Error(`half transparent: ${here.className}`);
    }
    throw new Error("nothing is behind");
  };
  const found = new Map();
  const look = (element, style, text) => {
    const [a, b] = [light(parsed(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const around = element.parentElement;
    const name = `${around.tagName}.${around.className} > ${element.tagName}.${element.className}#${element.id}`;
    if (!(found.get(name)?.[0] <= ratio)) found.set(name, [ratio, text.slice(0, 30), style.color]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const shown = text && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!shown || element.closest("button:disabled, noscript, option")) continue;
    look(element, getComputedStyle(element), text);
  }
  for (const field of document.querySelectorAll("input[placeholder]")) {
    if (field.checkVisibility()) look(field, getComputedStyle(field, "::placeholder"), field.placeholder);
  }
  for (const line of document.querySelectorAll(".line[data-n]")) {
    if (line.checkVisibility()) look(line, getComputedStyle(line, "::before"), line.dataset.n);
  }
  return [...found].map(([name, [ratio, text, colour]]) => [name, ratio, text, colour]);
}
