// Which of two codes answers a query better: the first, the second, or neither.

import { answer, begin, showCode, showQuery } from "./ballot.js";

const SIDES = ["left", "right"];
const choose = (side) => () => answer({ side });

function show(item) {
  showQuery(item.query);
  SIDES.forEach((side, at) => showCode(side, item.codes[at], at ? "Second code" : "First code"));
}

for (const button of document.querySelectorAll("[data-side]")) button.onclick = choose(button.dataset.side);
begin({ show, keys: { 1: choose("left"), 2: choose("right"), 0: choose("neither") } });
