// Comforts on top of pages that work without them: keys, a filter, the theme.
(function () {
  "use strict";
  const root = document.documentElement;
  const store = {
    get(name) { try { return localStorage.getItem(name); } catch (error) { return null; } },
    set(name, value) { try { localStorage.setItem(name, value); } catch (error) { /* kept for this page only */ } },
  };

  // -- theme
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  function showTheme() {
    button.textContent = "Theme: " + (root.dataset.theme || "system");
  }
  function nextTheme() {
    const next = themes[(themes.indexOf(root.dataset.theme || "system") + 1) % themes.length];
    if (next === "system") delete root.dataset.theme; else root.dataset.theme = next;
    store.set("kb-theme", next);
    showTheme();
  }
  button.hidden = false;
  showTheme();
  button.addEventListener("click", nextTheme);

  // On narrow screens the menu is one line: the page one is on stays in sight.
  const current = document.querySelector('.menu [aria-current="page"]');
  if (current) current.scrollIntoView({ block: "nearest", inline: "nearest" });

  // -- the list of keys
  const dialog = document.getElementById("keys");
  const help = document.getElementById("help");
  const keysOn = document.getElementById("keys-on");
  help.hidden = false;
  help.addEventListener("click", () => dialog.showModal());
  keysOn.checked = store.get("kb-keys") !== "off";
  keysOn.addEventListener("change", () => store.set("kb-keys", keysOn.checked ? "on" : "off"));

  // -- the filter
  const filter = document.querySelector("[data-filter]");
  if (filter) {
    filter.closest("p").hidden = false;
    const items = Array.from(document.querySelectorAll(filter.dataset.filter), (item) => [item, item.textContent.toLowerCase()]);
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const [item, text] of items) item.hidden = !words.every((word) => text.includes(word));
    });
  }

  // -- keys
  let leader = 0;
  function writing(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }
  function step(by) {
    const items = Array.from(document.querySelectorAll("[data-item]")).filter((item) => item.offsetParent !== null);
    if (!items.length) return;
    const at = items.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + by));
    items[next].focus();
    items[next].scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || dialog.open) return;
    if (writing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!keysOn.checked) return;
    const soon = Date.now() - leader < 1500;
    leader = 0;
    if (soon) {
      const link = Array.from(document.querySelectorAll("[data-key]")).find((item) => item.dataset.key === event.key);
      if (link) { event.preventDefault(); link.click(); return; }
    }
    const does = {
      "/": () => {
        const box = document.getElementById("q") || document.getElementById("filter");
        if (box) { box.focus(); box.select(); } else location.assign("/");
      },
      "?": () => dialog.showModal(),
      g: () => { leader = Date.now(); },
      j: () => step(1),
      k: () => step(-1),
      t: nextTheme,
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  });
})();
