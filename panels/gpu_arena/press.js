// The script of the tab's first region, for the whole tab: it reports each press with all that the
// fields hold. The HTML may be drawn anew while the visitor types or has unfolded a part: a fold
// stays open, and a field keeps what was typed unless the data-key of a part around it changes. What
// was typed since the last press stays in any case: the answer to that press knows nothing of it.
const tab = element.closest("#arena"), unfolded = {}, typed = new Map();
const titleOf = (fold) => fold.firstElementChild.textContent;
const send = (press, value) => {
    if (!IN_TURN.includes(press)) typed.clear(); // a run presses by itself
    const fields = {value, give: [], want: [], search: location.search};
    for (const {name, type, checked, value} of tab.querySelectorAll("[name]"))
        if (type !== "checkbox") fields[name] = value;
        else if (checked) fields[name].push(value);
    fields.blocks = [...tab.querySelectorAll("[aria-pressed=true]")].map((one) => one.dataset.value);
    const by = AT_ONCE.includes(press) ? "input" : IN_TURN.includes(press) ? "submit" : "click";
    trigger(by, {press, fields});
};
tab.addEventListener("click", ({target}) => {
    const fold = target.closest("summary")?.parentElement, button = target.closest("button");
    if (fold) unfolded[titleOf(fold)] = !fold.open;
    const {press, value, renews, show} = button?.dataset ?? {};
    if (!press) return;
    if (button.ariaPressed) button.ariaPressed = button.ariaPressed !== "true";
    // what is renewed may not be drawn yet, for whoever presses as the tab opens
    if (renews) document.getElementById(renews)?.setAttribute("data-key", "");
    send(press, value);
    if (show) document.getElementById(show).scrollIntoView({block: "nearest"});
});
tab.addEventListener("input", ({target}) => {
    if (target.dataset.press) send(target.dataset.press);
    if (target.tagName === "INPUT" && target.type !== "checkbox") typed.set(target.name, target.value);
});
tab.addEventListener("keydown", ({key, target}) => {
    if (key === "Enter" && target.name === "seed") send("begin");
});
new MutationObserver((changes) => changes.forEach(({target, attributeName}) => {
    if (attributeName === "open") target.open ||= !!unfolded[titleOf(target)];
    else if (attributeName === "data-session") sessionStorage.setItem(KEPT, target.dataset.session);
    else for (const field of target.querySelectorAll("input, option")) {
        if (field.tagName === "OPTION") field.selected = field.defaultSelected;
        else if (field.type === "checkbox") field.checked = field.defaultChecked;
        else field.value = typed.get(field.name) ?? field.defaultValue;
    }
})).observe(tab, {subtree: true, attributeFilter: ["open", "data-key", "data-session"]});
const clock = setInterval(() => {
    if (!element.isConnected) clearInterval(clock);
    else if (tab.querySelector("[data-running]")) send("tick");
}, 2000); // time to read the reason of each step
const KEPT = "sauda-arena"; // a browser tab remembers the session of its game over a reload
send("open", sessionStorage.getItem(KEPT) ?? "");
