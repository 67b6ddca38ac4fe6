// One hit as an element: where it is, its code, why it is here, and what may be done with it.

import { codeView } from "./code.js";
import { button, copy, el, plain } from "./dom.js";
import { linkTo } from "./editor.js";
import { canLabel, gradeOf } from "./labels.js";
import { folderOf } from "./served.js";
import { whyView } from "./why.js";

export const placeOf = (hit) => `${hit.path}:${hit.start_line}`;
const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
const isProse = (hit) => hit.kind === "section" || hit.kind === "cell";
export const titleOf = (hit) =>
  (isProse(hit) ? hit.symbol : [hit.parent, hit.symbol].filter(Boolean).join(".")) || nameOf(hit.path);
export const percent = (score) => `${Math.round(100 * Math.min(1, Math.max(0, score)))}%`;

/** Return a hit's path and lines, as a link where it can be opened. */
export function placeView(hit, href) {
  const repository = hit.root ? `${nameOf(hit.root)}/` : "";
  const folder = repository + hit.path.slice(0, hit.path.length - nameOf(hit.path).length);
  const lines = hit.end_line > hit.start_line ? `${hit.start_line}–${hit.end_line}` : `${hit.start_line}`;
  const text = [
    el("span", { class: "folder" }, plain(folder)),
    el("bdi", {}, plain(nameOf(hit.path))),
    el("span", { class: "lines" }, `:${lines}`),
  ];
  return href
    ? el("a", { class: "path", href, title: "Open the file (Enter)" }, text)
    : el("span", { class: "path" }, text);
}

/** Make the view of one hit; `does` holds what its buttons do. */
export function answerView(hit, { at, root, words, question, near, does }) {
  const id = `hit-${at}`;
  const code = codeView(hit, words);
  const actions = { hit };
  const article = el("article", { class: "hit", tabindex: "-1", "aria-labelledby": id });

  const all = code.long ? button("", () => actions.expand(), { class: "all quiet", "aria-expanded": "false" }) : null;
  const closed = `Show all ${code.count.toLocaleString("en")} lines`;
  if (all) all.textContent = closed;
  actions.expand = () => {
    if (!all) return;
    const open = code.toggle();
    all.textContent = open ? "Show less" : closed;
    all.setAttribute("aria-expanded", String(open));
    if (!open) article.scrollIntoView({ block: "nearest" });
  };

  const parts = Object.keys(hit.why ?? {}).length > 0;
  let bars = null;
  const why = parts ? button("Why", () => actions.why(), { class: "quiet", "aria-expanded": "false" }) : null;
  actions.why = () => {
    if (!why) return;
    if (!bars) article.append((bars = whyView(hit, near ? "" : percent(hit.score))));
    else bars.hidden = !bars.hidden;
    why.setAttribute("aria-expanded", String(!bars.hidden));
  };

  const box = el("input", { type: "checkbox", on: { change: () => does.pick(hit, box.checked) } });
  actions.pick = () => box.click();
  actions.picked = (is) => ((box.checked = is), article.classList.toggle("picked", is));
  const copied = button("Copy path", () => actions.copy(), { class: "quiet" });
  actions.copy = () => copy(placeOf(hit), copied);
  actions.related = () => does.related(hit);
  actions.open = (how) => does.open(hit, how);
  const href = does.href(hit);
  const place = placeView(hit, href);
  const opens = (link, what) =>
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      article.focus({ preventScroll: true });
      does.open(what);
    });
  const title = href ? el("a", { class: "open", href, tabindex: "-1" }) : el("span");
  title.append(el("bdi", {}, ...plain(titleOf(hit))));
  for (const link of href ? [place, title] : []) opens(link, hit);
  const edits = linkTo(folderOf(root), hit.path, hit.start_line);
  const edit = edits ? el("a", { class: "tool edit", href: edits, title: "Open in the editor (o)" }, "Editor") : null;
  actions.edit = () => edit?.click();

  const others = el("ul", { class: "others", hidden: true });
  const more = hit.more?.length ? button("", () => actions.more(), { class: "quiet more", "aria-expanded": "false" }) : null;
  more?.append(...plain(hit.more.join("; ")));
  actions.more = () => {
    if (!more) return;
    if (!others.firstChild) others.append(...hit.others.map((other) => otherView(other, does, opens)));
    others.hidden = !others.hidden;
    more.setAttribute("aria-expanded", String(!others.hidden));
  };

  const grades = question && canLabel(root) ? gradeButtons(root, hit, question, actions, does) : null;
  const chance = el(
    "span",
    { class: "chance", hidden: near && hit.group && hit.group !== "alike" },
    meter(hit.score),
    near ? `${hit.score.toFixed(2)} alike` : `${percent(hit.score)}`,
  );
  if (!near) chance.title = "The chance that this is right, as measured on judged answers";
  article.append(
    el(
      "div",
      { class: "head" },
      el("h2", { id }, title),
      el("span", { class: "sort" }, [hit.group, hit.kind, hit.language].filter(Boolean).join(" · ")),
      hit.complete === false ? el("span", { class: "sort" }, "a part of it") : null,
      chance,
      el("p", { class: "place" }, place),
    ),
    ...(more ? [more, others] : []),
    code.view,
    el(
      "div",
      { class: "actions" },
      all,
      el("label", { class: "pick" }, box, "Compare"),
      why,
      button("Related", () => actions.related(), { class: "quiet" }),
      copied,
      edit,
      grades,
    ),
  );
  return { article, actions };
}

/** Return a further place that an answer stands for. */
function otherView(other, does, opens) {
  const href = does.href(other);
  const place = placeView(other, href);
  if (href) opens(place, other);
  return el("li", {}, el("bdi", {}, plain(other.symbol)), " ", place);
}

function meter(score) {
  const filled = el("span");
  filled.style.width = percent(score);
  return el("span", { class: "meter", "aria-hidden": "true" }, filled);
}

function gradeButtons(root, hit, question, actions, does) {
  const right = button("Right", () => actions.grade(1), { class: "quiet right" });
  const wrong = button("Wrong", () => actions.grade(0), { class: "quiet wrong" });
  actions.graded = () => {
    const grade = gradeOf(root, question, hit);
    right.setAttribute("aria-pressed", String(grade !== null && grade > 0));
    wrong.setAttribute("aria-pressed", String(grade === 0));
  };
  actions.grade = (grade) => {
    const now = gradeOf(root, question, hit);
    const same = now !== null && now > 0 === grade > 0;
    return does.label(hit, same ? null : grade);
  };
  actions.graded();
  return el("span", { class: "grades", role: "group", "aria-label": "Is this right?" }, right, wrong);
}
