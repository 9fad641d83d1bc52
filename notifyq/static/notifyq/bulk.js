/* The form that looks and confirms. Without it the server refuses a filter that was not looked at. */
"use strict";

/** Whether a field no longer says what it said when the page came. */
function differs(field) {
  if (field.type === "checkbox") {
    return field.checked !== field.defaultChecked;
  }
  if (field.tagName === "SELECT") {
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, first);
  }
  return field.value !== field.defaultValue;
}

function tieConfirmation(form) {
  const filter = form.querySelector("[data-filter]");
  const button = form.querySelector("[data-confirm]");
  if (!button) {
    return;
  }
  const fields = [...filter.querySelectorAll("input, select")];
  const show = () => {
    button.disabled = fields.some(differs);
    form.querySelector("[data-look-first]").hidden = !button.disabled;
  };
  filter.addEventListener("input", show);
  filter.addEventListener("change", show);
  form.addEventListener("keydown", (event) => { // Enter in the reason means the button below it, not the first one
    if (event.key === "Enter" && event.target.tagName === "INPUT" && !filter.contains(event.target)) {
      event.preventDefault();
      button.click();
    }
  });
  window.addEventListener("pageshow", show); // a browser may have kept what was typed on an earlier visit
  show();
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-looked-at]").forEach(tieConfirmation));
