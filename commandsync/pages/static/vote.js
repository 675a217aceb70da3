// Keeps the page of a bot true: it is loaded again where the browser kept it, and one click is one vote.
"use strict";
(() => {
  window.addEventListener("pageshow", (event) => {
    // From the history it comes as it was: the numbers and the button too.
    const [navigation] = performance.getEntriesByType("navigation");
    if (event.persisted || navigation?.type === "back_forward") location.reload();
  });

  // A second click would be another vote before the first answer says who votes.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".vote")) return;
    const button = event.target.querySelector("button");
    if (button.ariaDisabled === "true") event.preventDefault();
    button.ariaDisabled = "true";
  });
})();
