// Filters the commands of a bot's page by the words that are typed: each must be in the name, the
// syntax, the description or the category. The words stay when the content is exchanged: whoever
// exchanges it dispatches "exchanged" on the document.
"use strict";
(() => {
  let words = "";

  const fold = (text) =>
    text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();

  const texts = new WeakMap();

  const textOf = (row, category) => {
    if (!texts.has(row)) {
      const parts = row.querySelectorAll("h4, code, p");
      texts.set(row, fold([category, ...[...parts].map((part) => part.textContent)].join("\n")));
    }
    return texts.get(row);
  };

  const apply = () => {
    const parts = fold(words).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const group of document.querySelectorAll(".group")) {
      const category = group.querySelector("h3").textContent;
      let any = false;
      for (const row of group.querySelectorAll(".command")) {
        const text = textOf(row, category);
        row.hidden = !parts.every((part) => text.includes(part));
        any ||= !row.hidden;
        shown += !row.hidden;
      }
      group.hidden = !any;
    }
    const count = document.querySelector(".filter-count");
    if (count) {
      const number = shown === 1 ? "1 command matches" : `${shown} commands match`;
      count.textContent = parts.length ? number : "";
    }
  };

  const begin = () => {
    const form = document.querySelector(".filter");
    if (form) {
      form.hidden = false;
      form.querySelector("input").value = words;
    }
    apply();
  };

  document.addEventListener("input", (event) => {
    if (event.target.id === "filter") {
      words = event.target.value;
      apply();
    }
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches(".filter")) event.preventDefault();
  });
  document.addEventListener("exchanged", begin);
  begin();
})();
