// Keys, the list of them, and where the focus goes after a part of the page was replaced. All pages work without it.
"use strict";
(() => {
  const key = "biasscope-keys";
  const on = () => { try { return localStorage.getItem(key) !== "off"; } catch { return true; } };
  const typing = (node) => node.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
  const dialog = () => document.getElementById("help");
  const follow = (rel) => {
    const link = document.querySelector(`main a[rel~="${rel}"]`);
    if (link) link.click();
    return Boolean(link);
  };
  const choose = (number) => {
    const choice = document.querySelector(`input[type=radio][data-key="${number}"]`);
    if (choice) { choice.checked = true; choice.focus(); }
    return Boolean(choice);
  };
  const search = () => {
    const field = document.querySelector("input[type=search]");
    if (field) { field.focus(); field.select(); }
    return Boolean(field);
  };
  const acts = {
    j: () => follow("next"), k: () => follow("prev"), "/": search,
    ArrowRight: () => follow("next"), ArrowLeft: () => follow("prev"),
    "?": () => { dialog().showModal(); return true; },
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = event.target.closest(".label-form") || document.querySelector(".label-form");
      if (form) { event.preventDefault(); form.requestSubmit(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || !on() || dialog().open) return;
    // Arrows belong to whatever scrolls or is chosen with them.
    if (event.key.startsWith("Arrow") && event.target.closest("[role=region], [type=radio], svg")) return;
    const act = acts[event.key] || (/^[1-9]$/.test(event.key) ? () => choose(event.key) : null);
    if (act && act()) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest(".help-open")) dialog().showModal();
    if (event.target.closest(".help-close")) dialog().close();
  });

  document.addEventListener("change", (event) => {
    if (event.target.id !== "keys-on") return;
    try { localStorage.setItem(key, event.target.checked ? "on" : "off"); } catch { /* a private window */ }
  });

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("keys-on");
    if (box) box.checked = on();
  });

  document.addEventListener("htmx:after:swap", () => {
    const title = document.getElementById("pair-title");
    if (title && document.activeElement === document.body) title.focus({ preventScroll: true });
  });
})();
