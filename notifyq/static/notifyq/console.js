/* The console's only script: instants in the reader's zone, and parts of a page that keep themselves fresh. */
"use strict";

const SHOWN = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

/** Shows each <time class="nq-time"> in the reader's zone; its title keeps UTC. */
function showInstants(root) {
  for (const element of root.querySelectorAll("time.nq-time:not([data-shown])")) {
    element.textContent = SHOWN.format(new Date(element.dateTime));
    element.dataset.shown = "";
  }
}

/** Fetches the element's address every so many seconds, while the page is looked at, and puts what comes in its place. */
function keepFresh(element) {
  const seconds = Number(element.dataset.refreshSeconds);
  const refresh = async () => {
    if (!document.hidden && !element.contains(document.activeElement)) {
      try {
        const answer = await fetch(element.dataset.refresh, { headers: { "X-Console-Part": "1" } });
        if (answer.redirected) {
          location.reload(); // the login has ended
          return;
        }
        element.classList.toggle("nq-stale", !answer.ok);
        if (answer.ok) {
          element.innerHTML = await answer.text();
          showInstants(element);
        }
      } catch {
        element.classList.add("nq-stale");
      }
    }
    setTimeout(refresh, seconds * 1000);
  };
  setTimeout(refresh, seconds * 1000);
}

document.addEventListener("DOMContentLoaded", () => {
  showInstants(document);
  document.querySelectorAll("[data-refresh]").forEach(keepFresh);
});
