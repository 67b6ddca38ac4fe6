// Which of two codes answers better: left, right, or neither.

import { of } from "../page/dom.js";
import { answer, begin, showQuery } from "./ballot.js";

const vote = (side) => () => answer({ side });

function show(item) {
  showQuery(item.query);
  for (const side of ["left", "right"]) {
    of(side).textContent = item[side];
    of(side).scrollTo(0, 0);
  }
}

for (const button of document.querySelectorAll("[data-side]")) button.onclick = vote(button.dataset.side);
begin({ show, keys: { 1: vote("left"), 2: vote("right"), 0: vote("neither") } });
