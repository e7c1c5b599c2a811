// Opens branches of the tree in place, and the keys. Every page works without this, by links and forms.
"use strict";
(() => {
  const tree = document.querySelector(".tree");
  const sleep = new Map();

  async function fetchBranches(address) {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(answer.status);
    const holder = document.createElement("ul");
    holder.innerHTML = await answer.text();
    prepare(holder);
    return holder;
  }

  function toggleOf(link) {
    return link.parentElement.querySelector(":scope > .toggle");
  }

  function levelOf(link) {
    return link.parentElement.querySelector(":scope > ul");
  }

  function mark(link, open) {
    const button = toggleOf(link);
    button.setAttribute("aria-expanded", String(open));
    button.setAttribute("aria-label", (open ? tree.dataset.close : tree.dataset.open) + ": " + link.textContent.trim());
  }

  async function open(link) {
    let level = levelOf(link);
    if (!level) {
      if (sleep.has(link)) return;
      sleep.set(link, true);
      try {
        level = await fetchBranches(link.dataset.level);
      } catch {
        location.href = link.href; // the page itself says what is the matter
        return;
      } finally {
        sleep.delete(link);
      }
      link.parentElement.append(level);
    }
    level.hidden = false;
    mark(link, true);
  }

  function close(link) {
    const level = levelOf(link);
    if (level) level.hidden = true;
    mark(link, false);
  }

  function isOpen(link) {
    const level = levelOf(link);
    return Boolean(level) && !level.hidden;
  }

  function prepare(holder) {
    for (const link of holder.querySelectorAll("a[data-level]")) {
      if (toggleOf(link)) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "toggle";
      button.tabIndex = -1;
      button.addEventListener("click", () => (isOpen(link) ? close(link) : open(link)));
      link.before(button);
      mark(link, isOpen(link));
    }
    for (const link of holder.querySelectorAll("a[data-more]")) {
      link.addEventListener("click", async (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        const item = link.parentElement;
        try {
          const holder = await fetchBranches(link.dataset.more);
          const focus = holder.querySelector("a");
          item.replaceWith(...holder.children);
          if (focus) focus.focus();
        } catch {
          location.href = link.href;
        }
      });
    }
  }

  function visibleLinks() {
    return [...tree.querySelectorAll("a")].filter((link) => link.offsetParent !== null);
  }

  function step(by) {
    const links = visibleLinks();
    const now = links.indexOf(document.activeElement);
    const current = tree.querySelector("[aria-current]");
    const at = now >= 0 ? now + by : current ? links.indexOf(current) : 0;
    const next = links[Math.max(0, Math.min(links.length - 1, at))];
    if (next) next.focus();
  }

  function rightOrLeft(key) {
    const link = document.activeElement;
    if (key === "ArrowRight") {
      if (!link.dataset.level) return;
      if (isOpen(link)) step(1);
      else open(link);
    } else if (link.dataset.level && isOpen(link)) close(link);
    else {
      const above = link.closest("ul")?.parentElement?.querySelector(":scope > a");
      if (above && tree.contains(above)) above.focus();
    }
  }

  for (const picture of document.querySelectorAll(".thumbnail")) picture.addEventListener("error", () => picture.remove());

  const facets = document.querySelector(".facets");
  if (facets && matchMedia("(max-width: 50rem)").matches) facets.open = false;

  if (tree) {
    prepare(tree);
    const current = tree.querySelector("[aria-current]");
    const side = tree.closest(".side");
    if (matchMedia("(max-width: 56rem)").matches) side.open = false;
    else if (current) side.scrollTop = current.offsetTop - side.clientHeight / 3;
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, [contenteditable]")) return;
    const inTree = tree && tree.contains(target) && target.matches("a");
    if (event.key === "/") {
      const field = document.getElementById("q");
      if (!field) return;
      field.focus();
      field.select();
    } else if (event.key === "?") location.href = document.querySelector("a.help").href;
    else if (tree && (event.key === "j" || (inTree && event.key === "ArrowDown"))) step(1);
    else if (tree && (event.key === "k" || (inTree && event.key === "ArrowUp"))) step(-1);
    else if (inTree && (event.key === "ArrowRight" || event.key === "ArrowLeft")) rightOrLeft(event.key);
    else if (/^[npu]$/.test(event.key)) {
      // pages of a document, and the one that it lies in
      const link = document.querySelector(`.viewer a[data-key=${event.key}]`);
      if (!link) return;
      link.click();
    } else return;
    event.preventDefault();
  });
})();
