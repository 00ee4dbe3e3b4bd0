// A press tells which move was made, by its id, and what the fields beside it hold; so does a change of a
// field that is a move itself. A button with a name is a field that is on or off. A button may also show
// another part of the page, start an animation again, or copy a link or a text.
let at = {}; // the button that has the focus, and which move it is
const typed = new Map(); // in fields, since the last move: the answer to that knows nothing of it
const make = (id) => {
    const name = id.split(":")[0], fields = {};
    for (const { name, type, checked, ariaPressed, value } of element.querySelectorAll("[name]"))
        if (type !== "checkbox" && type !== "button") fields[name] = value;
        else (fields[name] ??= []).push(...(checked || ariaPressed === "true" ? [value] : []));
    typed.clear();
    const by = ["input", "submit"].find((event) => props[event]?.includes(name)) ?? "click";
    trigger(by, { id, fields, search: location.search });
};
element.addEventListener("click", async ({ target }) => {
    const fold = target.closest("summary")?.parentElement, button = target.closest("button");
    if (fold) fold.isUnfolded = !fold.open;
    const { id, show, copy, renew, replay = "nothing" } = button?.dataset ?? {};
    if (button?.name) button.ariaPressed = button.ariaPressed !== "true";
    if (renew) document.getElementById(renew)?.setAttribute("data-key", "");
    if (id) make(id);
    if (show) document.getElementById(show)?.scrollIntoView({ block: innerWidth <= 700 ? "start" : "nearest" });
    for (const each of document.querySelector(replay)?.getAnimations({ subtree: true }) ?? []) {
        each.cancel();
        each.play();
    }
    if (!copy) return;
    const from = element.querySelector(copy);
    const done = await navigator.clipboard?.writeText(from.href ?? from.value ?? from.textContent)
        .then(() => true, () => false);
    button.parentElement.querySelector("[role=status]").textContent = done ? button.dataset.copied : button.dataset.kept;
});
element.addEventListener("input", ({ target }) => {
    if (target.dataset.id) make(target.dataset.id);
    if (target.tagName === "INPUT" && target.type !== "checkbox") typed.set(target.name, target.value);
});
element.addEventListener("keydown", ({ key, target }) => {
    if (key === "Enter" && target.dataset.enter) make(target.dataset.enter);
});
element.addEventListener("focusin", ({ target }) => { at = { target, id: target.dataset.id }; });
// Gradio writes new HTML into the old elements. What was unfolded stays so, and so does what a field
// holds, unless the data-key of a part around it changes. A button that has the focus may become another
// one, and the next Enter would make a move that nobody has read: the focus goes to the chat, or the part.
new MutationObserver((changes) => changes.forEach(({ target, attributeName }) => {
    if (attributeName === "open") target.open ||= !!target.isUnfolded;
    else if (attributeName === "data-key") for (const field of target.querySelectorAll("input, option")) {
        if (field.tagName === "OPTION") field.selected = field.defaultSelected;
        else if (field.type === "checkbox") field.checked = field.defaultChecked;
        else field.value = typed.get(field.name) ?? field.defaultValue;
    } else if (target === at.target && (target.disabled || target.dataset.id !== at.id)) {
        const rest = element.closest("[role=tabpanel]")?.querySelector("[role=log]") ?? target.closest(".block");
        if (rest.tabIndex < 0) rest.tabIndex = -1; // can have the focus, and is no stop
        if (target === document.activeElement) rest.focus({ preventScroll: true });
    }
})).observe(element, { subtree: true, attributeFilter: ["open", "data-key", "data-id", "disabled"] });
for (const code of element.querySelectorAll(".sauda-program code")) // with the page's own address
    code.textContent = code.textContent.replaceAll("http://127.0.0.1:7860", new URL(".", location.href).href.replace(/[/]$/, ""));
trigger("load", { id: "open", search: location.search });
