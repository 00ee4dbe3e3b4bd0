// Gradio shows nothing of a call that the server refuses, so its sentence is shown and read out here.
const fetchAnswer = window.fetch;
window.fetch = async (...call) => {
  const answer = await fetchAnswer(...call);
  if (answer.status >= 400 && answer.url.includes("/gradio_api/")) showRefusal(answer.clone());
  return answer;
};
async function showRefusal(answer) {
  const kind = answer.headers.get("content-type") ?? "", text = await answer.text();
  let sentence = kind.startsWith("text/plain") ? text : null; // where no more connections are taken
  if (kind.startsWith("application/json")) sentence = JSON.parse(text).error;
  sentence ||= `The page could not answer (status ${answer.status}); try again in a minute.`;
  document.getElementById("sauda-refusal")?.remove(); // one stands for all calls of an opening
  const shown = document.body.appendChild(document.createElement("p"));
  [shown.id, shown.role, shown.textContent] = ["sauda-refusal", "alert", sentence];
  const close = shown.appendChild(document.createElement("button"));
  [close.ariaLabel, close.textContent] = ["Close", "×"];
  close.onclick = () => shown.remove();
}

// Arrow keys turn the judge's rounds wherever no other thing to type in or pick from has the focus.
document.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: "judge-previous", ArrowRight: "judge-next" }[event.key];
  const busy = event.target.closest("input, textarea, select, [role=tab], [role=listbox]");
  const button = way && !busy && document.getElementById(way);
  if (button && button.offsetParent) button.click();
});

// Text is read out in its own language: what is mostly in Devanagari is Hindi.
function setLanguage(element) {
  const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  const count = (letters) => texts.map((text) => text.data).join("").match(letters)?.length ?? 0;
  const hindi = count(/[\u0900-\u097f]/g), latin = count(/[a-z]/gi), is = element.getAttribute("lang");
  if (hindi > latin && is !== "hi") element.setAttribute("lang", "hi");
  else if (latin && latin >= hindi && is === "hi") element.removeAttribute("lang");
}
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes) {
    setLanguage(target.nodeType === Node.TEXT_NODE ? target.parentElement ?? document.body : target);
    for (const node of addedNodes)
      if (node.nodeType === Node.ELEMENT_NODE) [node, ...node.querySelectorAll("*")].forEach(setLanguage);
  }
}).observe(document.documentElement, { childList: true, characterData: true, subtree: true, attributeFilter: ["lang"] });

// Opening a folded part closes the one that is open beside it.
document.addEventListener("click", (event) => {
  const pressed = event.isTrusted && event.target.closest(".sauda-fold > button");
  if (!pressed) return;
  const beside = pressed.closest("[role=tabpanel]").querySelectorAll(".sauda-fold > button.open");
  for (const other of beside) if (other !== pressed) other.click();
});

// A reel of boards plays as it comes into view.
const inView = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) if (isIntersecting) target.classList.add("sauda-plays");
}, { threshold: 0.5 });
new MutationObserver(() => {
  for (const reel of document.querySelectorAll(".sauda-reel:not(.sauda-plays)")) inView.observe(reel);
}).observe(document, { childList: true, subtree: true });

// A button saves the files of a training run, which are named after it.
// The run's picture is on white, so that it reads on any page; its CSV file is the log, a row per step.
function saveAs(name, address) {
  const link = document.createElement("a");
  link.href = address;
  link.download = `sauda-${name}`;
  link.click();
}
async function savePicture(run, selector) {
  const plot = document.querySelector(selector);
  const layout = { ...plot.layout, paper_bgcolor: "#FFFFFF", plot_bgcolor: "#FFFFFF" };
  const size = { format: "png", width: 1000, height: plot.offsetHeight, scale: 2 };
  saveAs(`${run}.png`, await Plotly.toImage({ data: plot.data, layout }, size));
}
async function saveLog(run, file) {
  const { data: { log } } = await (await fetch(file)).json();
  const names = [...new Set(log.flatMap(Object.keys))];
  const rows = [names, ...log.map((row) => names.map((name) => row[name] ?? ""))];
  const text = rows.map((row) => row.join(",")).join("\n");
  saveAs(`${run}.csv`, URL.createObjectURL(new Blob([text], { type: "text/csv" })));
}
document.addEventListener("click", (event) => {
  const { run, picture, log } = event.target.closest("button")?.dataset ?? {};
  if (picture) savePicture(run, picture);
  if (log) saveLog(run, log);
});

// On a phone the list of tabs scrolls: the chosen one comes into view.
new MutationObserver((changes) => changes.forEach(({ target }) => {
  if (target.role === "tab" && target.ariaSelected === "true")
    target.scrollIntoView({ block: "nearest", inline: "center" });
})).observe(document.documentElement, { subtree: true, attributeFilter: ["aria-selected"] });

// What a browser keeps of a part of the page, an entry per name, so that its tabs keep each other's: an
// event begins with what all of them wrote, and writes what it changed. The last of its values, which
// Gradio keeps in one piece, stands in where nothing is stored yet, or where a browser refuses to.
const stores = {};
const browserKeeps = (key) => stores[key] ??= (() => {
  const prefix = `${key}:`;
  let seen = {}, isFirst = true;
  const stored = () => {
    try {
      const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
      return Object.fromEntries(names.map((name) => [name.slice(prefix.length), JSON.parse(localStorage[name])]));
    } catch { return null; }
  };
  const read = (...values) => {
    const found = stored(), isEmpty = !found || (isFirst && !Object.keys(found).length);
    seen = found ?? {};
    isFirst = false;
    return isEmpty ? values : [...values.slice(0, -1), found];
  };
  const write = (kept) => {
    try {
      for (const [name, value] of Object.entries(kept ?? {}))
        if (seen[name] !== value) localStorage.setItem(prefix + name, JSON.stringify(value));
      for (const name in seen) if (!(name in (kept ?? {}))) localStorage.removeItem(prefix + name);
      seen = { ...kept };
    } catch { /* refused */ }
  };
  return { read, write };
})();

// What a tab of the browser keeps under `key` over a reload, and the words typed `at` an address.
// `sessionStorage` belongs to one tab; a browser may refuse it. Before the page has answered it has
// no session, and nothing to keep; what was typed until then stays.
function tabKeeps(key, at = "") {
  const read = (name) => { try { return sessionStorage.getItem(name) ?? ""; } catch { return ""; } };
  const write = (name, text) => { try { sessionStorage.setItem(name, text); } catch { /* refused */ } };
  const draft = `${key}-draft${at}`;
  return {
    read: (...values) => [...values.slice(0, -1), read(key)],
    write: (text) => { write(key, text); },
    writeDraft: (session, text) => { if (session) write(draft, text ?? ""); },
    readDraft: (text) => text || read(draft),
  };
}
