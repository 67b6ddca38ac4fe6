// Nothing found: which of the filters leaves nothing, each with how many answers there are without it.

import { ask } from "./api.js";
import { button, el, number, of, plain } from "./dom.js";
import { partsOf, without } from "./query.js";
import { isQuestion, searched } from "./search.js";
import { modeOf } from "./state.js";

const MOST = 12;

/** Return each filter of a question with the state without it. */
function filtersOf(state) {
  const parts = partsOf(state.q).parts.map((part) => [part.text, { q: without(state.q, part) }]);
  const lists = ["lang", "kind", "path"].flatMap((name) =>
    state[name].map((value) => [value, { [name]: state[name].filter((one) => one !== value) }]),
  );
  const mode = modeOf(state) === "all" ? [] : [[modeOf(state) === "docs" ? "only docs" : "only code", { mode: "all" }]];
  const root = state.root ? [[`only ${state.root}`, { root: "" }]] : [];
  return [...parts, ...lists, ...mode, ...root].filter(([, patch]) => isQuestion(patch.q ?? state.q)).slice(0, MOST);
}

/** Say below the verdict which filter leaves nothing, with a press that takes it away; `root` is called by a state. */
export async function explain(state, rootOf, go) {
  const filters = filtersOf(state);
  if (!filters.length) return;
  const counts = await Promise.all(
    filters.map(async ([, patch]) => {
      const [, parameters] = searched({ ...state, ...patch }, patch.root === undefined ? rootOf : "");
      return ask("/api/facets", parameters).then((told) => told, () => ({ counted: 0 }));
    }),
  );
  const guilty = filters.flatMap(([label, patch], at) => (counts[at].counted ? [[label, patch, counts[at]]] : []));
  const list = guilty.map(([label, patch, { counted, complete }]) =>
    el(
      "li",
      {},
      button("Remove", () => go(patch), { "aria-label": `Remove ${label}` }),
      " ",
      el("code", {}, plain(label)),
      ` ${complete ? number(counted) : `${number(counted)} or more`} answers without it`,
    ),
  );
  const why = ["No filter alone is the reason: together they leave nothing.", "One filter leaves nothing:"][guilty.length];
  of("verdict").querySelector(".guilty")?.remove();
  of("verdict").append(el("div", { class: "guilty" }, el("p", {}, why ?? "Each of these filters leaves nothing:"), el("ul", {}, list)));
}
