// Elements from values: strings become text, never markup.

export const of = (id) => document.getElementById(id);

/** Make an element; attributes that are null, undefined or false are left out, `on` holds its listeners. */
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [kind, listener] of Object.entries(value)) made.addEventListener(kind, listener);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (label, click, given = {}) => el("button", { type: "button", ...given, on: { click } }, label);

/** What reorders text, hides in it or controls a terminal; a tab and what joins emoji are neither. */
const ODD =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
const ODDS = new RegExp(`(${ODD.source})`, "u");
const ONE = new RegExp(`^${ODD.source}$`, "u");

/** Return a text as nodes, with characters that could deceive written out. */
export function plain(text) {
  if (!ODD.test(text)) return [text];
  return text
    .split(ODDS)
    .filter(Boolean)
    .map((part) => (ONE.test(part) ? odd(part) : part));
}

function odd(character) {
  const name = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  return el("span", { class: "odd", title: "a character that does not show" }, name);
}

/** Scroll the panel around an element so that it is seen, and nothing else. */
export function intoView(element) {
  const panel = element?.offsetParent && element.closest(".panel");
  if (!panel) return;
  const [box, place] = [panel.getBoundingClientRect(), element.getBoundingClientRect()];
  if (place.top < box.top || place.bottom > box.bottom) panel.scrollTop += place.top - box.top - box.height / 3;
}

export const number = (value) => value.toLocaleString("en");
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** What is kept from visit to visit; without storage it is kept for this one. */
const kept = new Map();
export function keep(name, value) {
  kept.set(name, value);
  try {
    localStorage.setItem(`assay-${name}`, value);
  } catch {
    // private windows
  }
}
export function held(name) {
  try {
    return kept.get(name) ?? localStorage.getItem(`assay-${name}`);
  } catch {
    return kept.get(name) ?? null;
  }
}

/** Copy a text and say so on the button that was pressed. */
export async function copy(text, pressed) {
  const before = pressed.dataset.label ?? pressed.textContent;
  pressed.dataset.label = before;
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    pressed.textContent = "Copying is not allowed here";
  }
  setTimeout(() => (pressed.textContent = before), 1200);
}
