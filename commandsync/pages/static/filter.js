// Filters the commands of a bot's page by the words that are typed: each must be in the name, the
// syntax, the description or the category. The words stay when the content is exchanged: whoever
// exchanges it dispatches "exchanged" on the document.
"use strict";
(() => {
  let words = "";
  let number = ""; // of all commands, as the page shows it

  const fold = (text) =>
    text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();

  const texts = new WeakMap(); // of the rows, folded when first needed

  const textOf = (row, category) => {
    if (!texts.has(row)) {
      const parts = [...row.querySelectorAll("h4, code, .head + p")];
      texts.set(row, fold([category, ...parts.map((part) => part.textContent)].join("\n")));
    }
    return texts.get(row);
  };

  const filter = (group, parts) => {
    const category = group.querySelector("h3").textContent;
    const rows = [...group.querySelectorAll(".command")];
    for (const row of rows) {
      row.hidden = !parts.every((part) => textOf(row, category).includes(part));
    }
    const shown = rows.filter((row) => !row.hidden);
    group.hidden = !shown.length;
    return shown.filter((row) => !row.matches(".gone")).length; // the number of all is without them
  };

  const apply = () => {
    const parts = fold(words).split(/\s+/).filter(Boolean);
    const groups = [...document.querySelectorAll(".group")];
    const shown = groups.reduce((sum, group) => sum + filter(group, parts), 0);
    const text = parts.length ? `${shown.toLocaleString("en")} of ${number} match` : number;
    document.querySelector(".section-head .count").textContent = text;
  };

  const begin = () => {
    number = document.querySelector(".section-head .count").textContent;
    const form = document.querySelector(".filter");
    if (form) {
      form.hidden = false;
      form.querySelector("input").value = words;
    }
    if (words) apply();
  };

  document.addEventListener("input", (event) => {
    if (event.target.id !== "filter") return;
    words = event.target.value;
    apply();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches(".filter")) event.preventDefault();
  });
  document.addEventListener("exchanged", begin);
  begin();
})();
