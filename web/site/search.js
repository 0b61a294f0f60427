// search.js - the search of the site: words.js has every section as [address, page, section, text]; it is loaded when
// the search is first used, as a script, so that the site works from a disk.
"use strict";
(() => {
  const form = document.querySelector(".search");
  const input = form.querySelector("input");
  const list = form.querySelector(".found");
  const up = form.dataset.up;
  let loading = null;
  let chosen = -1;

  const load = () => (loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = `${up}words.js`;
    script.onload = () => done(window.caromWords.map(([address, page, section, text]) => (
      { address, page, section, text, low: text.toLowerCase(), head: `${page} ${section}`.toLowerCase() })));
    script.onerror = fail;
    document.head.append(script);
  }));

  // every word must occur; headings count most, then how often the words occur
  const rank = (entry, words) => {
    let score = 0;
    for (const word of words) {
      const inHead = entry.head.includes(word);
      if (!inHead && !entry.low.includes(word)) return 0;
      const exact = entry.section.toLowerCase() === word || entry.page.toLowerCase() === word;
      score += (exact ? 60 : 0) + (inHead ? 20 : 0) + Math.min(5, entry.low.split(word).length - 1);
    }
    return score;
  };

  // the text around the first word, the words marked; nothing is read as markup
  const excerpt = (entry, words) => {
    const at = Math.max(0, entry.low.indexOf(words[0]) - 40);
    const small = document.createElement("small");
    const part = `${at > 0 ? "… " : ""}${entry.text.slice(at, at + 140)}`;
    const pattern = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
    part.split(pattern).forEach((piece, i) => {
      if (i % 2 === 0) small.append(piece);
      else small.append(Object.assign(document.createElement("mark"), { textContent: piece }));
    });
    return small;
  };

  const choose = (index) => {
    const items = [...list.querySelectorAll("li:not(.none)")];
    chosen = items.length ? (index + items.length) % items.length : -1;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
    items[chosen]?.scrollIntoView({ block: "nearest" });
  };

  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    if (words.length === 0) {
      list.hidden = true;
      return;
    }
    const entries = await load();
    const found = entries.map((entry) => [rank(entry, words), entry]).filter(([score]) => score > 0)
      .sort(([a], [b]) => b - a).slice(0, 20);
    list.replaceChildren(...found.map(([, entry]) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href: up + entry.address });
      link.append(entry.section ? `${entry.page}: ${entry.section}` : entry.page, excerpt(entry, words));
      item.append(link);
      return item;
    }));
    if (found.length === 0) list.append(Object.assign(document.createElement("li"), { className: "none", textContent: "nothing found" }));
    list.hidden = false;
    choose(0);
  };

  input.addEventListener("input", show);
  input.addEventListener("focus", () => { load(); if (input.value) show(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      list.hidden = true;
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("[aria-selected=true] a")?.click();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
  });
  addEventListener("click", (event) => { if (!form.contains(event.target)) list.hidden = true; });
  // the list of documents is folded where it stands above the text
  const narrow = matchMedia("(max-width:48rem)");
  const fold = () => { for (const part of document.querySelectorAll(".side details")) part.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
  document.body.dataset.ready = "true";
})();
