/* The console's only script: instants in the reader's zone, and parts of a page that keep themselves fresh. */
"use strict";

const SHOWN = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
/** Which part of an instant stands on an axis. */
const BRIEF = { minute: [11, 16], day: [5, 16] };
const CONTROLS = "input, textarea, select, button, summary";
const PATIENT_SECONDS = 15;

/** Shows each <time class="nq-time"> in the reader's zone, its title keeps UTC; and what is only true with this script. */
function showInstants(root) {
  for (const element of root.querySelectorAll("time.nq-time:not([data-shown])")) {
    element.textContent = SHOWN.format(new Date(element.dateTime)).slice(...(BRIEF[element.dataset.brief] ?? []));
    element.dataset.shown = "";
  }
  root.querySelectorAll("[data-scripted]").forEach((element) => element.removeAttribute("hidden"));
}

/** Says above the element that what it shows is old, since when and why; or takes that back. */
function tellTrouble(element, shownAt, why, link) {
  const note = element.previousElementSibling?.matches("[data-stale]") ? element.previousElementSibling : null;
  element.classList.toggle("nq-stale", Boolean(why));
  if (!why) {
    note?.remove();
    return;
  }
  const text = `Not refreshed: ${why}. What stands here is of ${SHOWN.format(shownAt)}. `;
  if (note?.firstChild.data === text) return; // or it would be read out each time
  const told = note || document.createElement("p");
  told.className = "nq-note nq-alarm";
  told.dataset.stale = "";
  told.setAttribute("role", "alert");
  told.replaceChildren(text, link || "It is tried again all the time.");
  if (!note) element.before(told);
}

function loginLink() {
  const link = document.createElement("a");
  link.href = location.href; // which leads to the login, and back here
  link.textContent = "Log in again";
  return link;
}

/** Puts new content in the element; a link that has the focus keeps it. */
function replaceContent(element, source) {
  const focused = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  element.innerHTML = source;
  showInstants(element);
  if (focused !== null) {
    [...element.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }
}

/** Fetches the element's address every so many seconds, while the page is looked at, and puts what comes in its place. */
function keepFresh(element) {
  const seconds = Number(element.dataset.refreshSeconds);
  let shownAt = new Date();
  const refresh = async () => {
    const isUsed = element.contains(document.activeElement) && document.activeElement.matches(CONTROLS);
    if (!document.hidden && !isUsed) {
      try {
        const signal = AbortSignal.timeout(PATIENT_SECONDS * 1000);
        const answer = await fetch(element.dataset.refresh, { headers: { "X-Console-Part": "1" }, signal });
        if (answer.redirected) {
          tellTrouble(element, shownAt, "your login has ended", loginLink());
        } else if (answer.ok) {
          replaceContent(element, await answer.text());
          shownAt = new Date();
          tellTrouble(element, shownAt, "");
        } else {
          tellTrouble(element, shownAt, `the server answered with an error (${answer.status})`);
        }
      } catch {
        tellTrouble(element, shownAt, "the server does not answer");
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
