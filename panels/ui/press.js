// The script of a region of HTML: a button sends its data, and what is picked beside it. It may show
// another part of the page, start an animation again, or copy a link or a text. It outlives the HTML
// that is shown within.
element.addEventListener("click", async event => {
    const button = event.target.closest("button");
    const {press, show, copy, replay = "nothing"} = button?.dataset ?? {};
    const picked = button?.parentElement.querySelector("select")?.value;
    if (press) trigger("click", {...button.dataset, picked});
    if (show) document.getElementById(show).scrollIntoView({block: "nearest"});
    for (const each of document.querySelector(replay)?.getAnimations({subtree: true}) ?? []) {
        each.cancel();
        each.play();
    }
    if (!copy) return;
    const from = element.querySelector(copy);
    const done = await navigator.clipboard?.writeText(from.href ?? from.value)
        .then(() => true, () => false);
    button.nextElementSibling.textContent = done ? button.dataset.copied : button.dataset.kept;
});
