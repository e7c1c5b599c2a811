"use strict";
(function () {
  const input = document.getElementById("search");
  const list = document.getElementById("results");
  const index = window.manualIndex.map((entry) => ({
    ...entry,
    head: entry.title.toLowerCase(),
    body: (entry.of + " " + entry.title + " " + entry.text).toLowerCase(),
  }));

  function score(entry, words) {
    let sum = 0;
    for (const word of words) {
      if (!entry.body.includes(word)) return 0;
      sum += entry.head.includes(word) ? 10 : 1 + Math.min(4, entry.body.split(word).length - 2);
    }
    return sum;
  }

  function excerpt(entry, word) {
    const found = entry.text.toLowerCase().indexOf(word);
    const begin = found > 50 ? entry.text.indexOf(" ", found - 50) + 1 : 0;
    const rest = entry.text.slice(begin);
    const end = rest.length > 130 ? rest.lastIndexOf(" ", 130) : rest.length;
    return (begin > 0 ? "… " : "") + rest.slice(0, end) + (end < rest.length ? " …" : "");
  }

  // text nodes only: nothing that a chapter says becomes markup
  function row(entry, word) {
    const link = document.createElement("a");
    link.href = entry.page;
    link.append(entry.title === entry.of ? entry.title : entry.of.split(": ")[0] + " – " + entry.title);
    const small = document.createElement("small");
    small.append(excerpt(entry, word));
    link.append(small);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = index.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0);
    found.sort((one, other) => other[0] - one[0]);
    list.replaceChildren(...found.slice(0, 12).map(([, entry]) => row(entry, words[0])));
    if (!found.length) list.append(list.dataset.none);
    list.hidden = !words.length;
  }

  input.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") list.hidden = true;
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    input.value = asked;
    show();
  }
})();
