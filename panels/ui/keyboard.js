// The page by keyboard: what Gradio's components leave out. The arrow keys on tabs: addresses.js.

// The stops of the Tab key, where Gradio has too few or too many: a chat may scroll, so the keyboard
// has to reach it; a list of tabs is one stop, and so is a group of radio buttons; a list that is
// open is none beside the box in which it is chosen from.
function setStops() {
  const set = (node, stop) => { if (node.getAttribute("tabindex") !== `${stop}`) node.tabIndex = stop; };
  for (const log of document.querySelectorAll("[role=log]")) set(log, 0);
  for (const list of document.querySelectorAll("[role=listbox], :has(> [role=listbox])")) set(list, -1);
  for (const search of document.querySelectorAll(".search-input")) search.ariaLabel = search.title;
  for (const icon of document.querySelectorAll("footer button img")) icon.alt = ""; // beside its words
  for (const arrow of document.querySelectorAll(".sort-indicator")) arrow.role = "img"; // it has a label
  for (const tab of document.querySelectorAll("[role=tab]")) set(tab, tab.ariaSelected === "true" ? 0 : -1);
  for (const radio of document.querySelectorAll("fieldset[id] input[type=radio]")) {
    const group = radio.closest("fieldset").id;
    if (radio.name !== group) radio.name = group;
  }
}
new MutationObserver(setStops)
  .observe(document, { childList: true, subtree: true, attributeFilter: ["aria-selected"] });

// Nothing can be said in a game before it is there. As it comes, a phone shows it from its brief on.
new MutationObserver(() => {
  for (const say of document.querySelectorAll("[id$=-say]")) {
    const part = say.closest("[role=tabpanel]"), was = say.inert, brief = part?.querySelector(".sauda-brief");
    say.inert = !!part?.querySelector("[role=log]") && !brief;
    if (was && brief && innerWidth <= 700) brief.scrollIntoView();
  }
}).observe(document, { childList: true, subtree: true });

// The link before all others leads to what the tab on show is for: its message box, else its first part.
document.addEventListener("click", (event) => {
  if (!event.target.closest(".sauda-skip")) return;
  event.preventDefault();
  const shown = (all) => [...document.querySelectorAll(all)].find((node) => node.checkVisibility());
  rest(shown("[id$=-say] :is(input, textarea)") ?? shown("[role=tabpanel]"));
});
// Leads to a game that an event has begun: a phone shows it from its brief on.
function goToGame(part) {
  const [chat, brief] = [`#${part}-chat [role=log]`, `[id^=${part}] .sauda-brief`].map((at) => document.querySelector(at));
  (innerWidth <= 700 ? brief : chat)?.scrollIntoView({ block: innerWidth <= 700 ? "start" : "center" });
  if (chat) rest(chat);
}
function rest(node) {
  if (node.tabIndex < 0) node.tabIndex = -1; // can have the focus, and is no stop
  node.focus({ preventScroll: true });
}

// Gradio writes new HTML into the old elements, and what has the focus may go, and the focus with it.
// Then the focus goes to the chat, where there is one, else to the part that was drawn anew; from a tab
// that was left, to what is on show now.
(() => {
  let at = null; // what has the focus, and the parts around it
  const isHere = (node) => node?.isConnected && node.checkVisibility() && !node.disabled;
  const leave = () => {
    const { panel, part } = at;
    const shown = [...document.querySelectorAll("[role=tabpanel]")].filter(isHere).at(-1);
    rest([panel.querySelector("[role=log]"), part, panel, shown?.querySelector("[role=log]"), shown].find(isHere));
  };
  document.addEventListener("focusin", ({ target }) => {
    const [panel, part] = ["[role=tabpanel]", ".block"].map((around) => target.closest(around));
    at = panel && { node: target, panel, part };
  });
  document.addEventListener("focusout", () => setTimeout(() => {
    if (document.activeElement === document.body && at && !isHere(at.node)) leave();
    else if (document.activeElement === document.body) at = null; // left of the visitor's own accord
  }));
})();

// Gradio takes the focus from the box of a list as something is chosen. It comes back, the list closed;
// a press opens that again, which Gradio does for a box without the focus alone.
let chosen = false, goal = null; // whether something is being chosen; where the focus is on its way to
document.addEventListener("keydown", ({ key, target }) => {
  chosen = key === "Enter" && target.matches("[role=combobox]");
}, true);
document.addEventListener("pointerdown", ({ pointerType, target }) => { // by touch, a keyboard would open
  chosen = pointerType === "mouse" && !!target.closest("[role=option]");
  const isClosed = target.matches("[role=combobox][aria-expanded=false]");
  if (isClosed && target === document.activeElement) target.dispatchEvent(new FocusEvent("focus"));
}, true);
document.addEventListener("focusout", ({ target, relatedTarget }) => {
  goal = relatedTarget;
  if (!chosen || relatedTarget || !target.matches("[role=combobox]")) return;
  chosen = false;
  target.focus(); // which opens the list
  target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
});
document.addEventListener("focusin", () => { goal = null; });

// Lists that do not open while an event changes their choices. One that has the focus keeps it, and one
// that was about to get it gets it then.
function shutLists(places) {
  for (const list of document.querySelectorAll(places)) list.inert = !list.contains(document.activeElement);
}
function openLists(places) {
  for (const list of document.querySelectorAll(places)) list.inert = false;
  if (document.activeElement === document.body) goal?.focus();
}

// Gradio's lists of tabs answer no key.
document.addEventListener("keydown", (event) => {
  const list = event.target.closest("[role=tablist]");
  const tabs = [...(list?.querySelectorAll("[role=tab]") ?? [])].filter((tab) => tab.offsetParent);
  const at = tabs.indexOf(event.target.closest("[role=tab]"));
  const to = { Home: 0, End: -1, ArrowLeft: at - 1, ArrowRight: (at + 1) % tabs.length }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  tabs.at(to).click();
  tabs.at(to).focus();
});
