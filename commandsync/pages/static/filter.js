// Shows the commands of one category, or of all, that contain every word that is typed: in the name,
// the syntax, the description or the category. The category is the one that the address names, as
// its links do without this script.
"use strict";
(() => {
  let words = "";

  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const fold = (text) =>
    text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const shownAs = (number) => number.toLocaleString("en");

  const texts = new WeakMap(); // of the rows, folded when first needed

  const textOf = (row, category) => {
    if (!texts.has(row)) {
      const parts = all("h4, .head :is(code, .of), .prose, .options", row);
      texts.set(row, fold([category, ...parts.map((part) => part.textContent)].join("\n")));
    }
    return texts.get(row);
  };

  // Hides what does not match in a group; returns how many match.
  const filter = (group, parts) => {
    const category = group.querySelector("h3").textContent;
    return all(".command", group).filter((row) => {
      row.hidden = !parts.every((part) => textOf(row, category).includes(part));
      return !row.hidden;
    }).length;
  };

  const label = (place, matching, isChosen) => {
    place.hidden = !matching && !isChosen;
    const link = place.querySelector("a");
    if (link) {
      link.querySelector(".of").textContent = shownAs(matching);
      link.ariaCurrent = isChosen ? "true" : null;
    } else {
      place.label = `${place.text} (${shownAs(matching)})`;
      place.selected = isChosen;
    }
  };

  const apply = () => {
    const section = document.querySelector(".listed");
    if (!section) return;
    const parts = fold(words).split(/\s+/).filter(Boolean);
    const groups = all(".group", section);
    const chosen = groups.find((group) => `#${group.id}` === location.hash) ?? section;
    const counts = new Map(groups.map((group) => [group.id, filter(group, parts)]));
    counts.set(section.id, [...counts.values()].reduce((before, each) => before + each, 0));
    for (const group of groups) {
      group.hidden = !counts.get(group.id) || ![group, section].includes(chosen);
    }
    for (const place of all(".categories li, #category option", section)) {
      const id = place.value || place.querySelector("a").hash.slice(1);
      label(place, counts.get(id), id === chosen.id);
    }
    const total = all(".command", section).length;
    const matching = counts.get(chosen.id);
    const text = shownAs(total);
    section.querySelector(".count").textContent =
      matching === total ? text : `${shownAs(matching)} of ${text}`;
    document.getElementById("no-match").hidden = matching || !total;
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
    if (event.target.id === "category") location.hash = event.target.value;
    if (event.target.id !== "filter") return;
    words = event.target.value;
    apply();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches(".filter")) event.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    const target = document.querySelector(":target");
    if (target?.matches(".command[hidden]")) words = ""; // else it would stay hidden
    begin();
    target?.scrollIntoView();
  });
  begin();
})();
