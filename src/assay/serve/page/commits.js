// Who wrote lines of a file, beside each; and how a unit came to be, commit by commit.

import { el, plain } from "./dom.js";

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const WEB = /^https?:\/\//;

export const dateOf = (iso) => {
  const when = new Date(iso);
  return iso && !Number.isNaN(+when) ? day.format(when) : "";
};

/** Return a commit's short id, as a link where a code host shows it. */
export function commitLink(id, links) {
  const short = id.slice(0, 8);
  if (!WEB.test(links?.commits ?? "")) return el("code", {}, short);
  return el("a", { href: links.commits + encodeURIComponent(id), rel: "noreferrer", target: "_blank" }, el("code", {}, short));
}

/** Put beside each line which commit wrote it; at the first one of several its date and author. */
export function showBlame(lines, answer, chosen) {
  const commits = new Map(answer.commits.map((each) => [each.id, each]));
  for (const { start_line: start, end_line: end, commit } of answer.spans) {
    for (let at = start; at <= end; at += 1) {
      const line = lines.get(at)?.element;
      if (!line) continue;
      line.querySelector(".who")?.remove();
      line.prepend(at === start ? whoOf(commits.get(commit), () => chosen(commits.get(commit))) : el("span", { class: "who" }));
      line.classList.toggle("first", at === start);
    }
  }
}

function whoOf(commit, click) {
  if (!commit) return el("span", { class: "who" }, "not committed");
  const told = el("button", { type: "button", class: "who quiet", title: commit.subject, on: { click } });
  told.append(el("time", { datetime: commit.date }, dateOf(commit.date)), " ", el("bdi", {}, ...plain(commit.author)));
  return told;
}

export function hideBlame(lines) {
  for (const { element } of lines.values()) {
    element.querySelector(".who")?.remove();
    element.classList.remove("first");
  }
}

/** Return commits as a list, each with what it changed. */
export function historyView(answer, what) {
  if (!answer.commits.length) return el("p", { class: "empty" }, `No commit has ${what} yet, or no git repository is there.`);
  return el(
    "div",
    {},
    el("p", { class: "empty" }, `How ${what} came to be, newest first.`),
    el("ol", { class: "commits" }, answer.commits.map((each) => el("li", {}, commitView(each, answer.links)))),
    answer.complete ? null : el("p", { class: "empty" }, "There are older commits."),
  );
}

export function commitView({ id, author, date, subject, body = "", patch = "" }, links) {
  return el(
    "article",
    {},
    el("h2", {}, plain(subject || "without a message")),
    el(
      "p",
      { class: "by" },
      el("time", { datetime: date }, dateOf(date)),
      " · ",
      el("bdi", {}, plain(author)),
      " · ",
      commitLink(id, links),
    ),
    body ? el("p", { class: "body" }, plain(body)) : null,
    patch ? el("details", {}, el("summary", {}, "What it changed"), patchView(patch)) : null,
  );
}

const SORTS = { "+": "added", "-": "removed", "@": "place" };

function patchView(patch) {
  const from = patch.indexOf("@@");
  const lines = (from < 0 ? patch : patch.slice(from)).split("\n");
  return el(
    "pre",
    { class: "patch", dir: "ltr", tabindex: "0", role: "region", "aria-label": "Changed lines" },
    lines.map((line) => el("span", { class: SORTS[line[0]] ?? null }, plain(line.slice(0, 1000)), "\n")),
  );
}
