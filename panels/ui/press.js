// What a region of HTML with buttons does from when it is placed, and for whatever HTML is shown in it
// later: a button sends its data, and what is picked beside it. It may show another part of the page,
// start an animation again, or copy a link or a text. Programs to copy get the page's own address.
function answerPresses(element, trigger) {
    for (const code of element.querySelectorAll(".sauda-program code")) {
        const home = new URL(".", location.href).href.replace(/[/]$/, "");
        code.textContent = code.textContent.replaceAll("http://127.0.0.1:7860", home);
    }
    element.addEventListener("click", async event => {
        const button = event.target.closest("button");
        const {press, show, copy, replay = "nothing"} = button?.dataset ?? {};
        const picked = button?.parentElement.querySelector("select, input")?.value;
        if (press) trigger("click", {...button.dataset, picked});
        if (show) document.getElementById(show).scrollIntoView({block: "nearest"});
        for (const each of document.querySelector(replay)?.getAnimations({subtree: true}) ?? []) {
            each.cancel();
            each.play();
        }
        if (!copy) return;
        const from = element.querySelector(copy);
        const done = await navigator.clipboard?.writeText(from.href ?? from.value ?? from.textContent)
            .then(() => true, () => false);
        button.parentElement.querySelector("[role=status]").textContent = done ? button.dataset.copied : button.dataset.kept;
    });
}
