// What stands beside the answers: sections of documentation, and the commits that changed what was asked about.

import { placeView, titleOf } from "./answer.js";
import { dateOf } from "./commits.js";
import { el, of, plain } from "./dom.js";

/** Show what stands beside an answer: documentation above or below it, as the answer says, and commits above it. */
export function show({ docs = [], docs_first: first = false, commits = [] }, does) {
  const [sections, changes] = [of("docs"), of("changes")];
  sections.hidden = !docs.length;
  sections.replaceChildren(el("h2", {}, "Documentation"), el("ul", {}, docs.map((hit) => el("li", {}, sectionView(hit, does)))));
  if (first) of("hits").before(sections);
  else of("more").after(sections);
  changes.hidden = !commits.length;
  changes.replaceChildren(el("h2", {}, "What changed it"), el("ol", {}, commits.map(changeView)));
}

function sectionView(hit, does) {
  const href = does.href(hit);
  const title = href ? el("a", { href }, plain(titleOf(hit))) : el("span", {}, plain(titleOf(hit)));
  if (href)
    title.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      does.open(hit);
    });
  return [el("bdi", {}, title), " ", el("span", { class: "place" }, placeView(hit))];
}

const changeView = ({ id, author, date, subject }) =>
  el(
    "li",
    {},
    el("code", {}, id.slice(0, 8)),
    " ",
    el("time", { datetime: date }, dateOf(date)),
    " ",
    el("bdi", {}, plain(subject)),
    el("span", { class: "quiet" }, " by ", el("bdi", {}, plain(author.replace(/ <.*/, "")))),
  );
