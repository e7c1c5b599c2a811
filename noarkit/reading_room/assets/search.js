// The search of a static copy: loads pieces of the index as scripts, since a page from a disk may fetch nothing.
"use strict";
const noarkit = (() => {
  const total = document.getElementById("total");
  const list = document.getElementById("hits");
  const more = document.getElementById("more");
  const field = document.getElementById("q");
  const narrow = document.getElementById("narrow");
  const chosen = { type: document.getElementById("type"), year: document.getElementById("year") };
  const SHOWN = 50;
  const MOST_PIECES = 40;
  const waiting = new Map();
  const loaded = new Map();
  let asked = 0;

  function piece(name) {
    if (!loaded.has(name))
      loaded.set(
        name,
        new Promise((resolve, reject) => {
          waiting.set(name, resolve);
          const script = document.createElement("script");
          script.src = "search/" + name + ".js";
          script.onerror = () => reject(new Error(name));
          document.head.append(script);
        })
      );
    return loaded.get(name);
  }

  const deliver = (name, data) => waiting.get(name)?.(data);

  function pieceOf(firsts, word) {
    let low = 0;
    let high = firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle] <= word) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  async function numbersOf(firsts, word) {
    const numbers = new Set();
    let pieces = 0;
    for (let at = pieceOf(firsts, word); at < firsts.length; at++) {
      if (firsts[at] > word && !firsts[at].startsWith(word)) break;
      if (++pieces > MOST_PIECES) return null;
      const words = await piece("words-" + at);
      for (const [each, steps] of Object.entries(words)) {
        if (!each.startsWith(word)) continue;
        let n = 0;
        for (const step of steps) numbers.add((n += step));
      }
    }
    return numbers;
  }

  // the type and the year of each of these items, by number: pieces have runs of items that are alike
  async function facetsOf(index, hits) {
    const facets = new Map();
    const types = Object.keys(index.types);
    let current = -1, runs = [], at = 0, end = 0;
    for (const n of hits) {
      const number = Math.floor((n - 1) / index.facets);
      if (number !== current) {
        runs = await piece("facets-" + number);
        [current, at, end] = [number, 0, number * index.facets + runs[0][2]];
      }
      while (n > end) end += runs[++at][2];
      facets.set(n, { type: types[runs[at][0]], year: runs[at][1] ? String(runs[at][1]) : "" });
    }
    return facets;
  }

  // the hits that are of the chosen type and year; each choice counts what the other one leaves
  function narrowed(index, hits, facets, choice) {
    const fits = (n, name) => !choice[name] || facets.get(n)[name] === choice[name];
    for (const [name, other] of [["type", "year"], ["year", "type"]]) {
      const counts = new Map();
      for (const n of hits) {
        const value = facets.get(n)[name];
        if (value && fits(n, other)) counts.set(value, (counts.get(value) || 0) + 1);
      }
      if (choice[name] && !counts.has(choice[name])) counts.set(choice[name], 0);
      const label = (value) => (name === "type" ? index.types[value] || value : value);
      const values = [...counts.keys()].sort((a, b) => label(a).localeCompare(label(b), document.documentElement.lang));
      const options = [new Option(chosen[name].dataset.all, "")];
      for (const value of values) options.push(new Option(`${label(value)} (${number(counts.get(value))})`, value));
      chosen[name].replaceChildren(...options);
      chosen[name].value = choice[name];
    }
    narrow.hidden = hits.length < 2;
    return hits.filter((n) => fits(n, "type") && fits(n, "year"));
  }

  const number = (count) => count.toLocaleString(document.documentElement.lang);

  async function find(text, choice) {
    const turn = ++asked;
    list.replaceChildren();
    more.hidden = true;
    narrow.hidden = true;
    const words = text.normalize("NFC").toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    if (!words.length) return void (total.textContent = "");
    total.textContent = total.dataset.wait;
    try {
      const index = await piece("index");
      let found = null;
      for (const word of words.sort((a, b) => b.length - a.length)) {
        const numbers = await numbersOf(index.firsts, word.slice(0, 40));
        if (turn !== asked) return;
        if (numbers === null) return void (total.textContent = total.dataset.short);
        found = found === null ? numbers : new Set([...found].filter((n) => numbers.has(n)));
        if (!found.size) break;
      }
      const all = [...found].sort((a, b) => a - b);
      const facets = await facetsOf(index, all);
      if (turn !== asked) return;
      const hits = narrowed(index, all, facets, choice);
      await show(index, hits, 0, turn);
      if (turn !== asked) return;
      const key = hits.length === 0 ? "none" : hits.length === 1 ? "one" : "many";
      total.textContent = total.dataset[key].replace("#", number(hits.length));
      total.dataset.query = [text, choice.type, choice.year].filter(Boolean).join(" & ");
    } catch {
      total.textContent = total.dataset.failed;
    }
  }

  async function show(index, hits, from, turn) {
    for (const n of hits.slice(from, from + SHOWN)) {
      const at = Math.floor((n - 1) / index.size);
      const items = await piece("items-" + at);
      if (turn !== asked) return;
      const [ident, title, type, day] = items[n - 1 - at * index.size];
      const link = document.createElement("a");
      link.href = "items/" + Math.floor(n / 1000) + "/" + n + ".html";
      if (ident) {
        const code = document.createElement("span");
        code.className = "ident";
        code.textContent = ident + " ";
        link.append(code);
      }
      link.append(title || total.dataset.untitled);
      const facts = document.createElement("p");
      facts.className = "soft";
      facts.textContent = [index.types[type], day].filter(Boolean).join(" · ");
      const item = document.createElement("li");
      item.append(link, facts);
      list.append(item);
    }
    more.hidden = from + SHOWN >= hits.length;
    more.onclick = () => show(index, hits, from + SHOWN, turn);
  }

  // the address is #words&type&year, so that it can be noted and comes back
  function ask(type, year) {
    const parts = [field.value, type, year].map(encodeURIComponent);
    location.hash = parts.join("&").replace(/&+$/, "");
  }
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask("", "");
  });
  narrow.addEventListener("change", () => ask(chosen.type.value, chosen.year.value));
  function fromAddress() {
    const [words, type, year] = location.hash.slice(1).split("&").map(decodeURIComponent);
    field.value = words;
    find(words, { type: type || "", year: year || "" });
  }
  addEventListener("hashchange", fromAddress);
  if (location.hash) fromAddress();

  return {
    index: (data) => deliver("index", data),
    words: (number, data) => deliver("words-" + number, data),
    items: (number, data) => deliver("items-" + number, data),
    facets: (number, data) => deliver("facets-" + number, data),
  };
})();
