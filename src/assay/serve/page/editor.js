// Paths as links into an editor: which one is the reader's choice, kept in the browser.

import { held, keep } from "./dom.js";

export const EDITORS = { vscode: "VS Code", cursor: "Cursor", zed: "Zed", idea: "IntelliJ IDEA", none: "No editor" };

const LINKS = {
  vscode: (path, line) => `vscode://file${path}:${line}:1`,
  cursor: (path, line) => `cursor://file${path}:${line}:1`,
  zed: (path, line) => `zed://file${path}:${line}`,
  idea: (path, line) => `idea://open?file=${path}&line=${line}`,
};

let here = true;

/** Say whether the files lie on the machine of the reader: an editor opens nothing of another. */
export const onThisMachine = (is) => (here = is);

export function editor() {
  const name = held("editor");
  return name in EDITORS ? name : "vscode";
}

export const choose = (name) => keep("editor", name);

/** Return the address that opens a line of a file below a root, or nothing; every odd character is escaped. */
export function linkTo(root, path, line) {
  const to = LINKS[editor()];
  if (!to || !here || !root) return null;
  const whole = `${root}/${path}`.replace(/^[A-Za-z]:\\/, (drive) => `/${drive}`).replace(/^([^/])/, "/$1");
  const parts = (/^\/[A-Za-z]:\\/.test(whole) ? whole.replaceAll("\\", "/") : whole).split("/");
  return to(
    parts
      .map(escaped)
      .join("/")
      .replaceAll(/\/{2,}/g, "/"),
    Number(line),
  );
}

function escaped(part) {
  const whole = part.toWellFormed?.() ?? part;
  return encodeURIComponent(whole).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
