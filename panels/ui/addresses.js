// Each tab and sub-tab has an address, as in ?tab=results&part=arena: choosing one writes it, Back
// and Forward choose again. A link of the class sauda-inpage is followed without loading the page
// again. What a tab shows may add values of its own, as in ?tab=judge&part=rounds&round=3: the tab's
// hidden .sauda-address holds them, and a press on it, or on the .sauda-follow within, lets the tab
// show those of the address; what ?made= claims of a game is none of them. A row that ?again= picks is
// brought into view.
(() => {
  const TABS = ".sauda-tabs > .tab-wrapper [role=tab]";
  const PARTS = ".sauda-subtabs > .tab-wrapper [role=tab]";
  let following = false; // an address is being followed, so that none is written
  let latest = 0; // number of the address that was followed last: it ends the following of others

  const chosen = (all) => [...document.querySelectorAll(all)]
    .find((tab) => tab.ariaSelected === "true" && tab.offsetParent)?.dataset.tabId;
  // The sub-tab of an address that names none.
  const first = () =>
    [...document.querySelectorAll(PARTS)].find((tab) => tab.offsetParent)?.dataset.tabId;
  const press = (all, id) => {
    const tab = [...document.querySelectorAll(all)]
      .find((other) => other.dataset.tabId === id && other.offsetParent);
    if (tab?.ariaSelected === "true") return true;
    const drawn = [...document.querySelectorAll(all)];
    if (drawn.length && !drawn.some((other) => other.dataset.tabId === id)) return true; // unknown
    tab?.click(); // and looked at again, because a page that is still being drawn hears no click
    return false;
  };
  const until = (done, then, tries = 200) => {
    if (done() || !tries) then();
    else setTimeout(() => until(done, then, tries - 1), 100);
  };

  const panelOf = (node) => node.closest("[role=tabpanel]");
  const holder = () => [...document.querySelectorAll(".sauda-address")]
    .find((node) => panelOf(node)?.offsetParent);
  const values = (node) => written(node)?.dataset.query ?? "";
  const plain = (query) => [...new URLSearchParams(query)]
    .filter(([name]) => !["tab", "part", "__theme", "made"].includes(name)).sort().join("&");
  const shows = (node) => !node || plain(values(node)) === plain(location.search);
  const written = (node) => node?.querySelector("[data-query]"); // not before it has changed

  const write = () => {
    const old = new URLSearchParams(location.search);
    const tab = chosen(TABS), part = chosen(PARTS), own = holder();
    if (following || !tab) return;
    if (old.get("tab") === tab && (old.get("part") ?? first()) === part && (!written(own) || shows(own))) return;
    const address = new URLSearchParams(part ? { tab, part } : { tab });
    for (const [name, value] of new URLSearchParams(values(own))) address.set(name, value);
    if (old.has("__theme")) address.set("__theme", old.get("__theme"));
    history.pushState(null, "", `?${address}`);
  };
  const follow = () => {
    const address = new URLSearchParams(location.search);
    const number = ++latest;
    following = true;
    const tab = address.get("tab") ?? document.querySelector(TABS)?.dataset.tabId;
    const part = () => address.get("part") ?? first();
    until(
      () => number !== latest || (press(TABS, tab) && (!part() || press(PARTS, part()))),
      () => {
        if (number !== latest) return;
        restore(number);
      },
    );
  };
  const restore = (number) => { // an answer may draw the tab's holder anew, so it is looked up each time
    const own = holder();
    if (own?.matches(".sauda-opens") && !written(own)) { // it is being filled with this address
      until(() => number !== latest || written(holder()), () => restore(number));
      return;
    }
    if (!shows(own)) own.querySelector(".sauda-follow, .prose").click();
    until(() => number !== latest || shows(holder()), () => { // what the server answers
      if (number !== latest) return;
      following = false;
      bring();
    }, 50);
  };
  const bring = () => {
    if (!new URLSearchParams(location.search).has("again")) return;
    const find = () => [...document.querySelectorAll(".sauda-again")].find((row) => row.offsetParent);
    until(find, () => find()?.scrollIntoView({ block: "center" }), 20);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.sauda-inpage");
    if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      const address = new URL(link.href);
      const theme = new URLSearchParams(location.search).get("__theme");
      if (theme) address.searchParams.set("__theme", theme);
      history.pushState(null, "", address);
      follow();
    } else if (event.target.closest(`${TABS}, ${PARTS}`)) setTimeout(write, 100);
    else if (event.target.closest("button")) setTimeout(write, 1000); // a button may lead to a tab
  });
  new MutationObserver((changes) => {
    if (changes.some(({ target }) => written(target.closest?.(".sauda-address")))) write();
  }).observe(document, { childList: true, subtree: true, attributeFilter: ["data-query"] });
  addEventListener("popstate", follow);
  if (/[?&](tab|part)=/.test(location.search)) follow();
})();
