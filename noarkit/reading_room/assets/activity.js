// Keeps the page of what happens fresh: the server sends the same fragment of it whenever it has changed.
"use strict";
(() => {
  const place = document.getElementById("activity");
  if (!place || !window.EventSource) return;
  const source = new EventSource(place.dataset.events);
  source.addEventListener("activity", (event) => {
    const focus = document.activeElement && place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-labelledby") : null;
    place.innerHTML = event.data;
    if (focus) place.querySelector(`[tabindex][aria-labelledby="${focus}"]`)?.focus();
  });
  addEventListener("pagehide", () => source.close());
})();
