// The page before a question: what is indexed here.

import { ask } from "./api.js";
import { number, of, plain, plural } from "./dom.js";

let asked = null;
let known = null;

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
