/* The console's own script: instants in the reader's zone, lists that fit a telephone, and parts of a page that keep
   themselves fresh. Without it everything works, and all times are UTC. */
"use strict";

/** Which part of an instant stands on an axis. */
const BRIEF = { minute: [11, 16], day: [5, 16] };
const CONTROLS = "input, textarea, select, button, summary";
const PATIENT_SECONDS = 15;

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const STOCK_INSTANT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/;
const STOCK_PLACES = ["_at", "_until", "_since", "-last_login", "-date_joined"]
  .map((end) => `[class*="field-"][class*="${end}"]`).join();
const written = (zone) => new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone: zone });
const WRITTEN = { own: written(OWN_ZONE), utc: written("UTC") };

let chosen = "own";
try {
  chosen = localStorage.getItem("nq-zone") === "utc" ? "utc" : "own";
} catch { /* it may not be kept: then it is asked for on each page */ }

/** Browsers go on calling these by names that people there no longer use. */
const NEWER_NAMES = {
  "Asia/Calcutta": "Asia/Kolkata", "Asia/Katmandu": "Asia/Kathmandu", "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh", "Europe/Kiev": "Europe/Kyiv",
};
const OWN_NAME = NEWER_NAMES[OWN_ZONE] ?? OWN_ZONE;
const zoneName = (which) => (which === "utc" ? "UTC" : OWN_NAME);
const otherZone = () => (chosen === "utc" ? "own" : "utc");

/** How far the own zone is from UTC now, such as "UTC+5:30". */
function offsetName() {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone: OWN_ZONE, timeZoneName: "longOffset" }).formatToParts();
  const offset = parts.find((part) => part.type === "timeZoneName").value.replace("GMT", "UTC");
  return offset.replace(/([+-])0/, "$1").replace(/:00$/, "");
}

/** Makes the times that Django's own cells hold like the others. */
function markStockInstants(root) {
  for (const cell of root.querySelectorAll(STOCK_PLACES)) {
    const inner = cell.querySelector("a, p, .readonly") || cell;
    const text = inner.textContent.trim();
    if (inner.childElementCount === 0 && STOCK_INSTANT.test(text)) {
      const time = document.createElement("time");
      time.className = "nq-time";
      time.dateTime = `${text.slice(0, 10)}T${text.slice(11, 19)}Z`;
      inner.replaceChildren(time);
    }
  }
}

/** Says above the element that what it shows is old, since when and why; or takes that back. */
function tellTrouble(element, shownAt, why, link) {
  const note = element.previousElementSibling?.matches("[data-stale]") ? element.previousElementSibling : null;
  element.classList.toggle("nq-stale", Boolean(why));
  if (!why) {
    note?.remove();
    return;
  }
  const text = `Not refreshed: ${why}. What stands here is of ${WRITTEN[chosen].format(shownAt)}. `;
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

/** Shows each <time class="nq-time"> in the chosen zone, its title has the other one; and what is only true with this script. */
function showInstants(root) {
  root.querySelectorAll("[data-scripted]").forEach((element) => element.removeAttribute("hidden"));
  markStockInstants(root);
  for (const element of root.querySelectorAll("time.nq-time")) {
    const at = new Date(element.dateTime);
    element.textContent = WRITTEN[chosen].format(at).slice(...(BRIEF[element.dataset.brief] ?? []));
    element.title = `${WRITTEN[otherZone()].format(at)} ${zoneName(otherZone())}`;
  }
}

/** The instant that a picker shows, as it is sent; as it is typed when it is none. */
function instantOf(text) {
  const at = new Date(chosen === "utc" ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString().replace(/\.\d+Z$/, "Z");
}

/** A picker knows no zones. What it shows is in the chosen one, and beside it goes what is sent, in UTC. */
function tiePicker(picker) {
  const sent = document.createElement("input");
  sent.type = "hidden";
  sent.name = picker.name;
  sent.value = picker.defaultValue && `${picker.defaultValue}Z`;
  picker.removeAttribute("name");
  picker.after(sent);
  const put = () => { sent.value = picker.value && instantOf(picker.value); };
  picker.addEventListener("input", put);
  picker.addEventListener("change", put);
  picker.form?.addEventListener("submit", put);
  const label = picker.labels[0];
  return () => {
    const at = new Date(sent.value);
    picker.value = Number.isNaN(at.getTime()) ? "" : WRITTEN[chosen].format(at).replace(" ", "T");
    label.textContent = label.textContent.replace(/\([^()]*\)/, `(${zoneName(chosen)})`);
  };
}

/** Names the zone once, and lets it be changed: where nothing can be hovered over, that is the way to UTC. */
function tieZone(place, pickers) {
  const button = document.createElement("button");
  button.type = "button";
  const isAway = !["UTC", "Etc/UTC"].includes(OWN_ZONE);
  const show = () => {
    const name = chosen === "utc" || !isAway ? "UTC" : `${OWN_NAME} (${offsetName()})`;
    place.replaceChildren(`Times in ${name} `, ...(isAway ? [button] : []));
    button.textContent = chosen === "utc" ? `Show ${OWN_NAME}` : "Show UTC";
    pickers.forEach((shows) => shows());
    showInstants(document);
  };
  button.addEventListener("click", () => {
    chosen = otherZone();
    try {
      localStorage.setItem("nq-zone", chosen);
    } catch { /* it holds for this page */ }
    show();
    button.focus();
  });
  show();
}

/** Gives each cell of Django's lists the name of its column, which a telephone shows beside it. */
function labelCells(table) {
  const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, place) => { cell.dataset.label = names[place] ?? ""; });
  }
}

/** What stands open for those without a script begins closed where it is narrow. Filters come before the rows there. */
function fold(details) {
  const narrow = window.matchMedia(`(max-width: ${details.dataset.fold}px)`);
  const filters = details.closest("#changelist-filter");
  const fit = () => {
    details.open = !narrow.matches;
    filters?.parentElement[narrow.matches ? "prepend" : "append"](filters);
  };
  narrow.addEventListener("change", fit);
  fit();
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

// Django's own script puts the focus into the first field of a form that adds something, also where another is wrong.
window.addEventListener("load", () => document.querySelector(".change-form [aria-invalid][autofocus]")?.focus());

document.addEventListener("DOMContentLoaded", () => {
  const pickers = [...document.querySelectorAll("input[type=datetime-local][name]")].map(tiePicker);
  const place = document.getElementById("nq-zone");
  if (place) {
    tieZone(place, pickers);
  } else {
    showInstants(document);
  }
  document.querySelectorAll("#result_list").forEach(labelCells);
  document.querySelectorAll("details[data-fold]").forEach(fold);
  document.querySelectorAll("[data-refresh]").forEach(keepFresh);
});
