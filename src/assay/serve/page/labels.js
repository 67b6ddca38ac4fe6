// Right and wrong, as somebody said: judgments of each repository's ground truth, read and written.

import { Refused, ask } from "./api.js";

const same = (text) => text.trim().split(/\s+/).join(" ").toLowerCase();

const held = new Map(); // root -> { file, queries }; null where labels are not kept
let judge = "";

export const judgeIs = (name) => (judge = name ?? "");
export const canLabel = (root) => Boolean(held.get(root));
const linesOf = (hit) => `${hit.path}:${hit.start_line}-${hit.end_line}`;

/** The name of the unit that a hit is, or is a part of; empty where it is several, or prose. */
const symbolOf = ({ kind, parent, symbol }) =>
  !symbol || /[\s,]/.test(symbol) || kind === "section" || kind === "cell" ? "" : [parent, symbol].filter(Boolean).join(".");

/** Read the judgments of a root; nothing is read twice. */
export async function load(root) {
  if (held.has(root)) return;
  try {
    held.set(root, await ask("/api/labels", { path: root }));
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    held.set(root, null); // a clone, or a mirror
  }
}

/** Return the grade that the reader gave a unit for a question, or null; lines count where it has no name. */
export function gradeOf(root, question, hit) {
  const query = held.get(root)?.queries.find((one) => same(one.text) === same(question));
  const named = `${hit.path}::${symbolOf(hit)}`;
  const mine = query?.judgments.find(
    (one) => (one.target === named || one.lines === linesOf(hit)) && (!judge || one.judge === judge),
  );
  return mine?.grade ?? null;
}

/** Save a grade, or take it back with null. */
export async function label(root, question, hit, grade) {
  const body = { path: root, query: question, target: linesOf(hit), symbol: symbolOf(hit), grade };
  const query = await ask("/api/labels", {}, { body });
  await load(root);
  const { queries, ...rest } = held.get(root);
  const others = queries.filter((one) => one.id !== query.id);
  held.set(root, { ...rest, queries: query.judgments?.length ? [...others, query] : others });
}

/** Count what was judged, root by root. */
export function counted() {
  return [...held].flatMap(([root, labels]) => {
    const judged = labels?.queries.filter((query) => query.judgments.length) ?? [];
    const judgments = judged.reduce((sum, query) => sum + query.judgments.length, 0);
    return judgments ? [{ root, file: labels.file, judgments, questions: judged.length }] : [];
  });
}
