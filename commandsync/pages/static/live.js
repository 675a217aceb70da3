// Keeps a page up to date: that of a preview is exchanged for its next version, and that of a service
// is loaded again where the browser kept it. It asks only while the page is visible. On disk there is
// nothing to ask.
"use strict";
(() => {
  const PAUSE = 1000; // milliseconds
  let listening = false;

  const main = () => document.querySelector("main");

  // What the reader has done to the page stays: its position, the tab, the focus, and what is
  // unfolded.
  const keyOf = (details) => details.parentElement.id + details.className;

  const exchange = (next) => {
    const focused = document.activeElement?.id;
    const open = new Set([...document.querySelectorAll("main details[open]")].map(keyOf));
    const tab = document.querySelector(".tabs > :checked")?.id;
    const selected = document.activeElement?.selectionStart;
    const { scrollX, scrollY } = window;
    main().replaceWith(next);
    for (const details of next.querySelectorAll("details")) details.open ||= open.has(keyOf(details));
    const chosen = tab && document.getElementById(tab);
    if (chosen) chosen.checked = true;
    document.dispatchEvent(new Event("exchanged"));
    const again = focused && document.getElementById(focused);
    if (again && again !== document.activeElement) {
      again.focus({ preventScroll: true });
      if (typeof selected === "number") again.setSelectionRange(selected, selected);
    }
    window.scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
  };

  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = page.title;
    exchange(document.adoptNode(page.querySelector("main[data-version]")));
  };

  const listen = async () => {
    const address = main().dataset.live;
    if (!address || listening) return;
    listening = true;
    while (!document.hidden) {
      try {
        const answer = await fetch(`${address}?after=${main().dataset.version}`);
        const { version } = await answer.json();
        if (String(version) !== main().dataset.version) await refresh();
      } catch {
        // The preview has ended, and may be started again.
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
    listening = false;
  };

  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pageshow", (event) => {
    // From the history it comes as it was: the numbers and the button too.
    const [navigation] = performance.getEntriesByType("navigation");
    if (event.persisted || navigation?.type === "back_forward") location.reload();
    else listen();
  });

  // A link to a change leads to the page, whichever tab is shown.
  document.addEventListener("click", (event) => {
    const first = event.target.closest?.(".changed a") && document.querySelector(".tabs > input");
    if (first) first.checked = true;
  });

  // A second click would be another vote before the first answer says who votes.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".vote")) return;
    const button = event.target.querySelector("button");
    if (button.ariaDisabled === "true") event.preventDefault();
    button.ariaDisabled = "true";
  });
})();
