// The theme puts the button that copies a text into a landmark, and gives it no name.
const named = () => {
  const places = document.querySelectorAll(".md-code__nav");
  places.forEach((place, number) => place.setAttribute("aria-label", `Code ${number + 1}`));
};
new MutationObserver(named).observe(document.documentElement, { childList: true, subtree: true });
