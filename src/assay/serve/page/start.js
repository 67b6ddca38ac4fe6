// The page before a question: what may be asked, and what is indexed here.

import { ask } from "./api.js";
import { button, el, number, of, plain, plural } from "./dom.js";

const EXAMPLES = [
  "where are errors turned into messages",
  "parse command line options",
  "read a file and close it when done",
  "how is the configuration loaded",
  "retry when the network fails",
];

let asked = null;
let known = null;

export function ready(go) {
  of("examples").append(
    ...EXAMPLES.map((text) =>
      el(
        "li",
        {},
        button(text, () => go(text)),
      ),
    ),
  );
}

/** Say how many repositories are asked together. */
export function several(count, heard) {
  asked = known = null;
  heard();
  of("facts").replaceChildren(...plain(plural(count, "repository", "repositories")));
}

/** Say what is indexed at a root, and tell it to `heard`; that is asked once. */
export async function facts(root, heard) {
  if (asked === root) return;
  asked = root;
  if (known !== root) heard({});
  known = root;
  try {
    const status = await ask("/api/status", { path: root });
    if (known !== root) return;
    if (!status.indexed) asked = null; // soon it will be
    heard(status);
    const left = Object.values(status.left_out).reduce((sum, count) => sum + count, 0);
    const parts = [
      plural(status.files, "file"),
      `${number(status.chunks)} units of code and prose`,
      left ? `${number(left)} left out` : "",
    ];
    of("facts").replaceChildren(
      ...plain(
        status.indexed
          ? parts.filter(Boolean).join(" · ")
          : "Nothing is indexed yet; the first question makes the index.",
      ),
    );
  } catch (error) {
    if (known !== root) return;
    asked = null;
    of("facts").replaceChildren(...plain(error.message));
  }
}
