// Arrow keys turn the judge's rounds wherever no other thing to type in or pick from has the focus.
document.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: "judge-previous", ArrowRight: "judge-next" }[event.key];
  const busy = event.target.closest("input, textarea, select, [role=tab], [role=listbox]");
  const button = way && !busy && document.getElementById(way);
  if (button && button.offsetParent) button.click();
});

// A chat may scroll, so the keyboard has to reach it; Gradio gives it no place in the tab order.
new MutationObserver(() => {
  document.querySelectorAll("[role=log]:not([tabindex])").forEach((log) => { log.tabIndex = 0; });
}).observe(document, { childList: true, subtree: true });

// Gradio's lists of tabs answer the arrow keys alone.
document.addEventListener("keydown", (event) => {
  const list = ["Home", "End"].includes(event.key) && event.target.closest("[role=tablist]");
  if (!list) return;
  const tabs = [...list.querySelectorAll("[role=tab]")].filter((tab) => tab.offsetParent);
  const tab = tabs.at(event.key === "Home" ? 0 : -1);
  event.preventDefault();
  tab.click();
  tab.focus();
});

// Opening a folded part closes the one that is open beside it.
document.addEventListener("click", (event) => {
  const pressed = event.isTrusted && event.target.closest(".sauda-fold > button");
  if (!pressed) return;
  const beside = pressed.closest("[role=tabpanel]").querySelectorAll(".sauda-fold > button.open");
  for (const other of beside) if (other !== pressed) other.click();
});
