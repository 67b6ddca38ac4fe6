// Whether a code answers a query: one pair at a time, with its tests where they are shown, and a reason.

import { el, number, of, plain, plural } from "../page/dom.js";
import { answer, begin, showCode, showQuery } from "./ballot.js";

const LABELS = {
  false: [["1", "Match", 1], ["0", "No match", 0], ["u", "Unsure", null]],
  true: [["2", "Answers it", 2], ["1", "Helps", 1], ["0", "Does not answer", 0], ["u", "Unsure", null]],
};
const FINISHED = "Thank you. Your labels stay as they are.";
let graded = false;

function label(grade) {
  answer({ grade, reason: of("reason").value });
}

function show(item, told) {
  graded = told.graded;
  for (const guide of document.querySelectorAll("[data-graded]")) guide.hidden = guide.dataset.graded !== `${graded}`;
  showQuery(item.query);
  showCode("code", item.codes[0], "Code");
  of("labels").replaceChildren(...LABELS[graded].map((each) => labelButton(each, item)));
  of("reason").value = item.reason;
  of("tests").hidden = !item.tests;
  of("tests").scrollTo(0, 0);
  of("tests-shown").replaceChildren(...(item.tests ? testsOf(item.tests) : []));
}

function labelButton([key, text, grade], item) {
  const pressed = item.labelled ? `${item.grade === grade}` : null;
  return el("button", { type: "button", "aria-pressed": pressed, on: { click: () => label(grade) } }, el("kbd", {}, key), text);
}

function testsOf(tests) {
  const part = (title, text) => (text ? [el("h3", {}, title), el("pre", {}, plain(text))] : []);
  const cases = tests.cases.map((one) =>
    el("li", {}, el("span", { class: one.state }, one.state || "not run"), one.detail ? [" ", ...plain(one.detail)] : "",
      el("pre", {}, plain(one.script)), differs(one)),
  );
  return [
    el("p", {}, "They test one reading of the query: ", ...plain(tests.reading)),
    ...(tests.error ? [el("p", { class: "error" }, ...plain(tests.error))] : []),
    ...part("Before the code", tests.setup),
    ...part("Before each case", tests.helpers),
    el("ol", {}, cases),
  ];
}

function differs(one) {
  if (!one.got && !one.expected) return null;
  return el("p", {}, "got ", el("code", {}, plain(one.got)), ", expected ", el("code", {}, plain(one.expected)));
}

/** Show how far people agree: only to somebody whose labels can no longer change. */
function end(told) {
  of("results").replaceChildren();
  document.querySelector("#end h1").textContent = FINISHED;
  if (!told.people) return;
  const value = (figure) => (figure === null ? "–" : figure.toFixed(3));
  const heads = ["", "labels", "seconds a label"];
  const rows = told.people.map((person) =>
    el("tr", {}, el("th", { scope: "row" }, plain(person.name)), el("td", {}, `${person.labels}`), el("td", {}, person.seconds.toFixed(0))),
  );
  of("results").replaceChildren(
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows)),
    el("p", { class: "ask" }, told.twice
      ? `Krippendorff's alpha ${value(told.alpha)} over ${plural(told.twice, "pair")} that two or more labeled; ${number(told.disputed)} disputed.`
      : "Nobody else has labeled these pairs yet."),
  );
}

/** In the field for a reason, Escape and Enter go back to the keys; Shift+Enter begins a line. */
function field(event) {
  if (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey)) return false;
  of("query").focus({ preventScroll: true });
  return true;
}

const keys = Object.fromEntries(["0", "1", "2", "u"].map((key) => [key, () => {
  const found = LABELS[graded].find(([name]) => name === key);
  if (found) label(found[2]);
}]));
begin({ show, end, field, keys: { ...keys, r: () => of("reason").focus() } });
