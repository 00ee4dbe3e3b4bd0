// Tables of the class sauda-data: a press on a heading sorts the rows by its column, what is typed
// above them hides those without it, and a press on the button saves all of them as CSV.
(() => {
  const text = (cell) => `"${cell.textContent.trim().replaceAll('"', '""')}"`;
  const csv = (cell) => cell.dataset.csv ?? text(cell);
  const order = (one, other) => parseFloat(one) - parseFloat(other) || one.localeCompare(other);

  function sort(table, head) {
    const descending = head.ariaSort !== "descending", at = head.cellIndex;
    for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
    head.ariaSort = descending ? "descending" : "ascending";
    const key = (row) => csv(row.cells[at]);
    const rows = [...table.tBodies[0].rows].sort((one, other) => order(key(one), key(other)));
    table.tBodies[0].append(...(descending ? rows.reverse() : rows));
  }

  function save(table, file) {
    const lines = [...table.rows].map((row) => [...row.cells].map(csv).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", lines.join("\n")], { type: "text/csv" }));
    link.download = file;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest(".sauda-data button");
    const table = button?.closest(".sauda-data").querySelector("table");
    if (table && button.dataset.file) save(table, button.dataset.file);
    else if (table) sort(table, button.closest("th"));
  });
  document.addEventListener("input", ({ target }) => {
    const sought = target.value?.toLowerCase();
    for (const row of target.closest(".sauda-data")?.querySelectorAll("tbody tr") ?? [])
      row.hidden = !row.textContent.toLowerCase().includes(sought);
  });
})();
