// The theme puts the button that copies a text into a landmark, and gives it no name.
const named = () => {
  const places = document.querySelectorAll(".md-code__nav");
  places.forEach((place, number) => place.setAttribute("aria-label", `Code ${number + 1}`));
};
new MutationObserver(named).observe(document.documentElement, { childList: true, subtree: true });

// A browser gives the page of a folder no worker: the script of the search runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const { contentWindow: inside, contentDocument: page } = frame;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.started = new Promise((resolve) => {
        const script = page.createElement("script");
        script.src = url;
        script.onload = () => resolve(inside);
        page.body.append(script);
      });
    }

    async postMessage(data) {
      (await this.started).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
