// Markdown that the server has read, as elements: known ones only, and links that can do no harm.

import { el, plain } from "./dom.js";

const TAGS = new Set("p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s hr br a table thead tbody tr th td".split(" "));
const WEB = /^(?:https?:\/\/|mailto:)/i;

const slugOf = (text) =>
  text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");

/** Return the file of the repository that a link of another one leads to; nothing outside of it. */
export function resolved(path, href) {
  const [target] = href.split(/[?#]/);
  const parts = target.startsWith("/") ? [] : path.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  try {
    return decodeURIComponent(parts.join("/"));
  } catch {
    return "";
  }
}

/** Make the view of a file's Markdown; `hrefOf` and `open` are of another file of the repository. */
export function markdownView(tree, { path, hrefOf, open }) {
  const view = el("div", { class: "markdown", dir: "auto", tabindex: "-1" });
  const node = (one) => (typeof one === "string" ? plain(one) : element(one));

  function element([tag, given, inside]) {
    const children = inside.map(node);
    if (!TAGS.has(tag)) return children;
    if (tag === "a") return link(given.href ?? "", children);
    const made = el(tag, { start: given.start, tabindex: tag === "pre" ? "0" : null }, children);
    if (/^h\d$/.test(tag) && !made.textContent.trim()) return [];
    if (/^h\d$/.test(tag)) made.dataset.slug = slugOf(made.textContent);
    return tag === "table" ? el("div", { class: "scroll", tabindex: "0" }, made) : made;
  }

  function link(href, children) {
    if (WEB.test(href)) return el("a", { href, target: "_blank", rel: "noreferrer noopener" }, children);
    const [file, anchor] = [href.startsWith("#") ? path : resolved(path, href), href.split("#")[1] ?? ""];
    if (!file || /^[a-z][a-z0-9+.-]*:/i.test(href)) return el("span", { title: href }, children);
    const made = el("a", { href: hrefOf(file) }, children);
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (file !== path) return open(file);
      [...view.querySelectorAll("[data-slug]")].find((one) => one.dataset.slug === anchor)?.scrollIntoView();
    });
    return made;
  }

  view.append(...tree.map(node).flat(Infinity));
  return view;
}
