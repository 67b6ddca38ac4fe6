// A repository's files as a tree: a folder is asked for when it is opened, and in pages where it holds many.

import { ask } from "./api.js";
import { el, intoView, plain } from "./dom.js";

const PAGE = 300;

/** Make the tree of a root, open down to a file; `open` is called with the path of a file that was chosen. */
export function treeView({ root, open, href }) {
  const top = el("ul", { class: "tree", "aria-label": "Files" });
  const folders = new Map(); // path -> { details, list, loaded }
  folders.set("", { list: top, loaded: null });

  const join = (folder, name) => (folder ? `${folder}/${name}` : name);

  function folderItem(path, name) {
    const list = el("ul");
    const summary = el("summary", {}, el("bdi", {}, plain(name)));
    const details = el("details", {}, summary, list);
    details.addEventListener("toggle", () => details.open && load(path));
    folders.set(path, { details, list, loaded: null });
    return el("li", {}, details);
  }

  function fileItem(path, { name, reason }) {
    const link = el("a", { href: href(path), title: reason || null, class: reason ? "left-out" : null });
    link.append(el("bdi", {}, ...plain(name)));
    link.dataset.path = path;
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(path);
    });
    return el("li", {}, link);
  }

  async function page(path, cursor = "") {
    const { list } = folders.get(path);
    const told = await ask("/api/tree", { path: join(root, path), limit: PAGE, cursor });
    list.append(...told.folders.map((name) => folderItem(join(path, name), name)));
    list.append(...told.files.map((file) => fileItem(join(path, file.name), file)));
    if (told.cursor) {
      const more = el("button", { type: "button", class: "quiet" }, "More files");
      const item = el("li", {}, more);
      more.addEventListener("click", () => {
        item.remove();
        page(path, told.cursor).catch((error) => list.append(failed(error)));
      });
      list.append(item);
    }
    if (!list.children.length) list.append(el("li", { class: "empty" }, "nothing that is served"));
  }

  function load(path) {
    const folder = folders.get(path);
    folder.loaded ??= page(path).catch((error) => {
      folder.loaded = null;
      folder.list.replaceChildren(failed(error));
    });
    return folder.loaded;
  }

  const failed = (error) => el("li", { class: "empty" }, plain(error.message));

  /** Open the folders down to a path and mark what is there. */
  async function reveal(path) {
    const parts = path.split("/");
    await load("");
    for (let at = 1; at < parts.length; at += 1) {
      const folder = folders.get(parts.slice(0, at).join("/"));
      if (!folder) return;
      folder.details.open = true;
      await load(parts.slice(0, at).join("/"));
    }
    for (const link of top.querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    const link = [...top.querySelectorAll("a")].find((one) => one.dataset.path === path);
    link?.setAttribute("aria-current", "page");
    intoView(link);
  }

  return { view: top, root, reveal };
}
