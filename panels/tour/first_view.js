// Shows the first view in the page's mode, and takes it away once the page itself is drawn. The
// page's race goes on where that of the first view was.
(() => {
  const first = document.getElementById("sauda-first"), start = performance.now();
  const query = new URLSearchParams(location.search);
  const mode = query.get("__theme") ?? "system";
  const dark = mode === "dark" || (mode === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  first.classList.toggle("dark", dark);
  if ((query.get("tab") ?? "tour") !== "tour") first.querySelector("main").remove();
  const DRAWN = "gradio-app .sauda-tabs [role=tabpanel] :is(.prose, table, input)";
  const watch = new MutationObserver(() => {
    if (!document.querySelector(DRAWN)) return;
    watch.disconnect();
    first.remove();
    const root = document.documentElement.style, elapsed = (performance.now() - start) / 1000;
    root.setProperty("--race-elapsed", `${elapsed}s`);
    setTimeout(() => root.removeProperty("--race-elapsed"), 20000);
  });
  watch.observe(document.body, { childList: true, subtree: true });
})();
