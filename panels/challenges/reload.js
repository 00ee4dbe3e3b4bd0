// What a tab of the browser keeps under `key` over a reload: the name of its session, and the words
// typed at each address by themselves. `sessionStorage` belongs to one tab; a browser may refuse it.
(key) => {
    const draft = `${key}-draft${new URL(location).searchParams.get("day") ?? ""}`;
    const read = (name) => { try { return sessionStorage.getItem(name) ?? ""; } catch { return ""; } };
    const write = (name, text) => { try { sessionStorage.setItem(name, text); } catch { /* refused */ } };
    return {
        readSession: (...values) => [...values.slice(0, -1), read(key)],
        writeSession: (name) => { write(key, name); },
        writeDraft: (session, text) => { if (session) write(draft, text ?? ""); },
        readDraft: (text) => text || read(draft),
    };
}
