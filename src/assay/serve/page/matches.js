// Every line that holds what a question quotes or matches its expressions, file by file.

import { ask } from "./api.js";
import { button, el, number, of, plain, plural } from "./dom.js";
import { byMeaning } from "./query.js";
import { searched } from "./search.js";

const FIRST = 10; // lines of a file that are shown at once
const PAGE = 200;

let flight = null;

export function hide() {
  flight?.abort();
  of("matches").hidden = true;
  of("matches").replaceChildren();
}

export const titleOf = ({ matches, matched_files: files }) =>
  `${plural(matches, "match", "matches")} in ${plural(files, "file")}`;

/** List what a question finds letter by letter; `found` gets the files as they come, `does` opens them. */
export async function show(answer, state, root, { found, does }) {
  hide();
  flight = new AbortController();
  const { signal } = flight;
  const [, parameters] = searched(state, root);
  const list = el("ol", { class: "files" });
  of("matches").hidden = false;
  of("matches").replaceChildren(...(byMeaning(state.q) ? [el("h2", {}, titleOf(answer))] : []), list);
  let last = null;
  const page = async (cursor) => {
    const told = await ask("/api/matches", { ...parameters, limit: PAGE, cursor }, { signal });
    for (const line of told.lines) {
      const place = { root: line.root || told.root, path: line.path };
      if (last?.place.root !== place.root || last.place.path !== place.path) {
        last?.draw();
        last = fileView(place, Boolean(line.root), does);
        list.append(el("li", {}, last.article));
        found(last);
      }
      last.lines.push(line);
    }
    last?.draw();
    if (!told.cursor) return;
    const more = button("More matches", () => (more.remove(), page(told.cursor)), { class: "further" });
    of("matches").append(more);
  };
  await page("");
}

/** Make the view of one file's lines. */
function fileView(place, rooted, does) {
  const lines = [];
  const list = el("ol", { class: "lines-that-match" });
  const count = el("span", { class: "sort" });
  const hit = (line) => ({ ...place, symbol: "", start_line: line, end_line: line });
  const link = (line, props, ...inside) => {
    const made = el("a", { href: does.href(hit(line)), ...props }, ...inside);
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      does.open(hit(line));
    });
    return made;
  };
  const name = `${rooted ? `${place.root}/` : ""}${place.path}`;
  const head = el("h2", {}, link(1, { class: "open" }, el("bdi", {}, plain(name))));
  const article = el("article", { class: "hit in-file", tabindex: "-1", "aria-label": name }, el("div", { class: "head" }, head, count), list);
  let all = false;
  const draw = () => {
    const shown = all || lines.length <= FIRST + 1 ? lines : lines.slice(0, FIRST);
    const left = lines.length - shown.length;
    const rest = left ? [el("li", {}, button(`${number(left)} more lines`, () => ((all = true), draw()), { class: "quiet" }))] : [];
    count.textContent = plural(lines.length, "line");
    list.replaceChildren(...shown.map((line) => el("li", {}, link(line.line, {}, lineView(line)))), ...rest);
  };
  const actions = { hit: { ...hit(1), score: 1 }, picked: () => {}, open: (how) => does.open(hit(lines[0].line), how) };
  return { place, lines, draw, article, actions };
}

function lineView({ line, pieces }) {
  const [first, ...rest] = pieces;
  const texts = [first.trimStart(), ...rest].map((text, at) => (at % 2 ? el("mark", {}, plain(text)) : plain(text)));
  return [el("span", { class: "n" }, number(line)), el("code", {}, texts)];
}
