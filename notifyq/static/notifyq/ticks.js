/* Ticking all rows of a page at once, and how many are ticked. Without it each is ticked by hand. */
"use strict";

/** Ties a box that ticks them all to the boxes of that name in its form. */
function tieTicks(all) {
  const name = all.dataset.ticks;
  const boxes = [...all.form.querySelectorAll(`input[type=checkbox][name="${name}"]`)];
  const told = all.form.querySelector(`[data-ticked="${name}"]`);
  const show = () => {
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count > 0 && count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
    if (told) {
      told.textContent = `${count} ticked:`;
    }
  };
  all.addEventListener("change", () => {
    boxes.forEach((box) => { box.checked = all.checked; });
    show();
  });
  boxes.forEach((box) => box.addEventListener("change", show));
  all.closest("label").hidden = false;
  show(); // a browser may have kept the ticks of an earlier visit
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-ticks]").forEach(tieTicks));
