// Right and wrong, as somebody said: judgments of the repository's ground truth, read and written.

import { ask } from "./api.js";

const same = (text) => text.trim().split(/\s+/).join(" ").toLowerCase();

let held = { root: null, file: "", queries: [] };
let judge = "";

export const judgeIs = (name) => (judge = name ?? "");
export const targetOf = (hit) => `${hit.path}:${hit.start_line}-${hit.end_line}`;

/** Read the judgments of a root; nothing is read twice. */
export async function load(root) {
  if (held.root === root) return held;
  const told = await ask("/api/labels", { path: root });
  held = { root, ...told };
  return held;
}

/** Return the grade that the reader gave lines as they are now for a question, or null. */
export function gradeOf(question, target) {
  const query = held.queries.find((one) => same(one.text) === same(question));
  const mine = query?.judgments.find((one) => one.lines === target && (!judge || one.judge === judge));
  return mine?.grade ?? null;
}

/** Save a grade, or take it back with null. */
export async function label(root, question, target, grade) {
  const query = await ask("/api/labels", {}, { body: { path: root, query: question, target, grade } });
  await load(root);
  const others = held.queries.filter((one) => one.id !== query.id);
  held = { ...held, queries: query.judgments?.length ? [...others, query] : others };
}

export function counted() {
  const judgments = held.queries.reduce((sum, query) => sum + query.judgments.length, 0);
  return { file: held.file, judgments, questions: held.queries.filter((query) => query.judgments.length).length };
}
