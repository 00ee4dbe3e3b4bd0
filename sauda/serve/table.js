// The view of a game in an agent's chat, an MCP App: it speaks JSON-RPC with its host alone, loads
// nothing, and plays by the tools of the server that sent it.
const main = document.getElementById("game"), CONTEXT = {}, waiting = new Map();
let host = {}, shown = null, asked = 0;

// Words and parts of the page; whatever a player wrote becomes text, never markup.
const language = () => ((CONTEXT.locale ?? navigator.language).startsWith("hi") ? "hi" : "en");
const say = (key, values = {}) => (WORDS[key]?.[language()] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name]);
const rupees = (price) => `₹${price.toLocaleString("en-IN", {minimumFractionDigits: price % 1 ? 2 : 0, maximumFractionDigits: 2})}`;
const decimal = (value) => value.toLocaleString("en", {maximumFractionDigits: 1}).replace("-", "−");
function el(tag, set = {}, ...inside) {
  const [name, ...classes] = tag.split("."), made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(set)) {
    if (key.startsWith("--") || key === "gridColumn" || key === "gridRow") made.style.setProperty(key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside.filter((part) => part !== "" && part != null));
  return made;
}
function picture(name) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 64 64");
  drawn.setAttribute("aria-hidden", "true");
  drawn.append(...(document.getElementById(name)?.cloneNode(true).childNodes ?? []));
  return drawn;
}

// The host: requests to it, and what it sends.
const post = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
const ask = (method, params) => new Promise((answer, refuse) => {
  waiting.set(++asked, {answer, refuse});
  post({id: asked, method, params});
});
const call = (name, given) => ask("tools/call", {name, arguments: given});
const HEARD = {
  "ui/notifications/tool-result": show,
  "ui/notifications/tool-cancelled": () => fault(say("cancelled")),
  "ui/notifications/host-context-changed": (changed) => { dress(changed); if (shown) draw(); },
};
addEventListener("message", ({source, data}) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const {answer, refuse} = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if (data.error) refuse?.(Error(data.error.message)); else answer?.(data.result);
  } else if (data.id !== undefined) post({id: data.id, result: {}}); // a ping, or the end of the view
  else HEARD[data.method]?.(data.params);
});
function dress(changed) {
  Object.assign(CONTEXT, changed);
  const {style} = document.documentElement, {theme, styles, safeAreaInsets: inset} = CONTEXT;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) if (name.startsWith("--font")) style.setProperty(name, value);
  style.colorScheme = theme ?? "light dark";
  document.documentElement.lang = language();
  if (inset) document.body.style.padding = `${inset.top}px ${inset.right}px ${inset.bottom}px ${inset.left}px`;
}
const fault = (text) => { document.getElementById("fault").textContent = text; };
const news = (text) => { document.getElementById("news").textContent = text; };

function show(result) {
  if (result.isError) return fault(result.content.map((part) => part.text).join(" "));
  shown = {game: result.structuredContent ?? JSON.parse(result.content[0].text), words: result._meta?.["sauda/words"]};
  fault("");
  draw();
}
function draw() {
  const focused = document.activeElement?.id, {game} = shown;
  main.replaceChildren(...(game.bazaar ? bazaar(game) : arena(game)).filter(Boolean));
  main.ariaBusy = "false";
  if (focused) document.getElementById(focused)?.focus();
  const log = main.querySelector(".log");
  if (log) log.scrollTop = log.scrollHeight;
}
// A move, unless the game went on since it was drawn, by the agent or in another frame: then the
// game as it now is, for a move of today's price could be made at another.
async function play(name, given) {
  const drawn = shown.game;
  main.ariaBusy = "true";
  main.inert = true;
  try {
    const now = await call("view_game", {game_id: drawn.game_id});
    if (now.isError || JSON.stringify(now.structuredContent) !== JSON.stringify(drawn)) {
      show(now);
      if (!now.isError) fault(say("elsewhere"));
      return;
    }
    const after = await call(name, {game_id: drawn.game_id, ...given});
    show(after);
    if (after.isError) return;
    const ended = shown.game.over;
    if (ended && shown.game.bazaar) shown.review = (await call("review_game", {game_id: drawn.game_id})).structuredContent;
    if (ended) draw();
    news([...main.querySelectorAll(".log li:last-child, .verdict")].map((part) => part.textContent).join(" "));
    if (host.updateModelContext) await ask("ui/update-model-context", {content: [{type: "text", text:
      `The person played ${name} ${JSON.stringify(given)} in game ${drawn.game_id}; view_game shows it as it now is${ended ? ", which is over" : ""}.`}]});
  } catch (error) {
    fault(say("unanswered", {why: error.message}));
  } finally {
    main.inert = false;
    main.ariaBusy = "false";
  }
}
const button = (id, text, pressed, set = {}) => el(set.main ? "button.main" : "button", {id, type: "button", onclick: pressed, disabled: set.disabled ?? false}, text);
const again = (task) => button("again", say("again"), async () => show(await call("new_game", {task}).catch((error) => ({isError: true, content: [{text: error.message}]}))), {main: true});
const leave = (pressed) => button("leave", say("leave"), ({target}) => { // asks once
  if (target.dataset.asked) pressed();
  else { target.dataset.asked = "yes"; target.textContent = say("really"); }
});
const verdict = (game, head, ...more) => el(`div.verdict.${game.outcome.success ? "won" : "lost"}`, {}, el("b", {}, head), ...more, el("p.quiet", {}, say("grade", {grade: game.outcome.grade.toFixed(2).replace("-", "−")})));

const outcome = (gain) => say(gain < 0 ? "lost" : "gained", {price: rupees(Math.abs(gain))});

// The bazaar --------------------------------------------------------------------------------------
function bazaar(game) {
  const t = game.bazaar, {own} = t, sells = game.seat === "seller", words = shown.words?.[language()];
  const them = sells ? "buyer" : "seller", [mine, theirs] = sells ? [t.asks, t.bids] : [t.bids, t.asks];
  const standing = t.standing && sells ? Math.max(...theirs) : theirs.at(-1);
  const taken = theirs.length ? standing : null, limit = own.reservation;
  const revealed = shown.review?.limits[t.past.length - 1]?.[them];
  const past = game.over ? t.past.at(-1) : null;
  const facts = [own.purse !== null && say("purse", {price: rupees(own.purse)}), own.quote !== null && say("quote", {price: rupees(own.quote)})];
  const side = (seat) => {
    const [prices, you] = [seat === "seller" ? t.asks : t.bids, seat === game.seat];
    return el(`div.side.${seat}`, {}, picture(you ? "stranger" : t.seller_type in WORDS ? t.seller_type : "firm"), el("div", {},
      el("h2", {}, say(you ? `you_${seat}` : seat)),
      el("span.price", {}, prices.length ? rupees(prices.at(-1)) : "…"),
      el("span.quiet", {}, you ? say(sells ? "at_least" : "at_most", {price: rupees(limit)}) : revealed === undefined ? say(seat === "seller" ? "asks" : "bids") : say("would", {price: rupees(revealed)}))));
  };
  return [
    el("header", {}, picture(t.item.category.toLowerCase().replaceAll(" ", "-")), el("div", {},
      el("h1", {}, words?.name ?? t.item.name),
      el("p.quiet", {}, [words?.condition ?? t.item.condition.replaceAll("_", " "), say("list", {price: rupees(t.item.list_price)}),
        t.deals > 1 && say("deal", {now: t.deal, all: t.deals}), ...facts].filter(Boolean).join(" · ")))),
    el("div.sides", {}, side("seller"), side("buyer")),
    rail(game, taken, revealed),
    patience(t, game.over),
    t.rivals.length ? el("p.quiet", {}, say("rivals", {n: t.rivals.filter((rival) => rival.active).length}), t.outbid ? ` ${say("outbid")}` : "") : null,
    el("ul.log", {tabIndex: 0, ariaLabel: say("talk")}, ...t.moves.map((move, at) => said(move, words?.glosses[at]))),
    game.over ? verdict(game, past?.price == null ? say(`end_${game.outcome.end}`) : say("deal_at", {price: rupees(past.price)}),
      game.outcome.forfeit || (past?.price == null ? "" : outcome(game.outcome.payoffs[game.seat]))) : controls(game, mine, taken),
    game.over ? el("div.row", {}, again(game.task)) : null,
  ];
}
function said(move, gloss) {
  const hindi = /[\u0900-\u097f]/.test(move.message), deed = move.action === "offer" ? rupees(move.price) : say(`did_${move.action}`);
  const manner = move.tells ? ["eye_contact", "posture", "offer_speed"].map((name) => move.tells[name]).filter((value) => value in WORDS).map((value) => say(value)) : [];
  return el(`li.${move.agent === "seller" ? "seller" : "buyer"}`, {}, el("b", {}, [deed, ...move.extras.map((name) => say(name))].join(" + ")),
    /\p{L}/u.test(move.message) ? el("span", {lang: hindi ? "hi" : ""}, move.message) : "", gloss ? el("p.gloss", {}, `≈ ${gloss}`) : "", manner.length ? el("p.quiet", {}, manner.join(", ")) : "");
}
function patience(t, over) {
  const left = t.rounds - t.round, {discount, deadline} = t.own;
  const beads = Array.from({length: t.rounds}, (_, at) => el(`span${at < t.round ? ".spent" : ""}${at + 1 === deadline ? ".due" : ""}`));
  return el("div.patience", {}, el("span.beads", {ariaHidden: "true"}, ...beads), el("span", {}, [
    over ? say("rounds_used", {used: t.round, all: t.rounds}) : say("rounds_left", {left, all: t.rounds}),
    !over && discount !== null && say("waiting_costs", {share: decimal(100 * (1 - discount))}), deadline !== null && say("deadline", {round: deadline})].filter(Boolean).join(" · ")));
}
function rail(game, taken, revealed) {
  const t = game.bazaar, limit = t.own.reservation, sells = game.seat === "seller", list = t.item.list_price;
  const all = [list, limit, revealed ?? limit, ...t.asks, ...t.bids];
  const low = Math.floor(0.9 * Math.min(...all, 0.6 * list)), high = Math.ceil(1.05 * Math.max(...all)), x = (price) => (price - low) / (high - low);
  const dots = (prices, seat) => prices.map((price, at) => el(`i.${seat}${at + 1 === prices.length ? ".last" : ""}`, {"--x": x(price)}));
  const tick = (price, key, where) => el(`div.tick.${where}`, {"--x": x(price)}, el("span", {}, say(key, {price: rupees(price)})));
  const [bid, ask_] = [t.standing ? Math.max(...t.bids) : t.bids.at(-1), t.asks.at(-1)];
  const size = Math.max(10 ** -t.decimals, 10 ** Math.floor(Math.log10(list)) / 100), last = (sells ? t.asks : t.bids).at(-1);
  const opening = sells ? 1.2 * Math.max(limit, list) : 0.7 * Math.min(limit, taken ?? limit);
  const next = last === undefined ? opening : taken === null ? last : last + (Math.max(Math.min(taken, sells ? taken : limit), sells ? limit : 0) - last) / 3;
  const slide = el("input", {id: "slide", type: "range", min: low, max: high, step: size, value: Math.round(next / size) * size, disabled: game.over, ariaLabel: say("price"),
    "--mine": `var(--${sells ? "marigold" : "indigo"})`, oninput: ({target}) => { const field = document.getElementById("price"); field.value = target.value; field.oninput(); }});
  return el("div.rail", {}, t.bids.length && t.asks.length && ask_ > bid ? el("div.gap", {"--x": x(bid), "--w": x(ask_) - x(bid)}) : "",
    slide, revealed === undefined ? tick(list, "list", "above") : tick(revealed, "their_limit", "above"), tick(limit, "limit", "below"),
    ...dots(t.asks, "seller"), ...dots(t.bids, "buyer"));
}
function controls(game, mine, taken) {
  const t = game.bazaar, sells = game.seat === "seller", limit = t.own.reservation;
  const beyond = (price) => (sells ? limit - price : price - limit) - wanted().reduce((sum, name) => sum + (t.own.values?.[name] ?? 0), 0);
  const loss = (price) => (beyond(price) > 0 ? ` · ${say("loss", {price: rupees(beyond(price))})}` : "");
  const boxes = (t.extras ?? []).map((name) => el("input", {type: "checkbox", id: `with-${name}`, value: name, onchange: () => label()}));
  const wanted = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const price = el("input", {id: "price", type: "number", inputMode: "decimal", step: "any", min: 0, ariaLabel: say("price"), oninput: () => label()});
  const words = el("input", {id: "words", type: "text", maxLength: 500, placeholder: say("words"), ariaLabel: say("words")});
  words.setAttribute("list", "phrases");
  const bid = button("offer", "", () => play("offer", {price: price.valueAsNumber, message: words.value, ...(boxes.length ? {extras: wanted()} : {})}), {main: true});
  const label = () => {
    const named = price.valueAsNumber;
    bid.disabled = !(named > 0);
    bid.textContent = named > 0 ? say(sells ? "ask" : "bid", {price: rupees(named)}) + loss(named) : say("price");
    if (document.getElementById("slide")) document.getElementById("slide").value = named;
  };
  const enter = ({key}) => { if (key === "Enter" && !bid.disabled) bid.click(); };
  price.onkeydown = words.onkeydown = enter;
  const given = () => ({message: words.value});
  queueMicrotask(() => { price.value = document.getElementById("slide").value; label(); });
  if (!host.serverTools) return el("p.quiet", {}, say("watch"));
  return el("div", {role: "group", ariaLabel: say("move")},
    boxes.length ? el("div.row", {}, ...boxes.map((box) => el("label.row", {}, box, `${say(box.value)} ${say("worth", {price: rupees(t.own.values[box.value])})}`))) : "",
    el("div.row", {}, price, words, el("datalist", {id: "phrases"}, ...say(sells ? "phrases_seller" : "phrases_buyer").split("|").map((text) => el("option", {value: text})))),
    el("div.row", {}, bid, taken === null ? "" : button("accept", say("accept", {price: rupees(taken)}) + loss(taken), () => play("accept", given())),
      mine.length ? button("hold", say("hold", {price: rupees(mine.at(-1))}), () => play("reject", given())) : "", leave(() => play("walk_away", given()))));
}

// The arena ---------------------------------------------------------------------------------------
const TALKS = ["make_pitch", "counter_pitch", "send_message", "send_offer", "form_coalition"];
function arena(game) {
  const {arena: a} = game, {own} = a, names = Object.fromEntries(a.labs.map((lab) => [lab.lab_id, lab.lab_id === game.seat ? say("you") : lab.public_name]));
  const last = game.last_action, open = a.offers.filter((each) => each.to_lab_id === game.seat), credits = (value) => say("credits", {n: decimal(value)});
  const terms = (blocks, money) => [...blocks, ...(money ? [credits(money)] : [])].join(" + ") || "–";
  const trade = (given, taken) => say("trade", {given, taken});
  const rows = a.labs.flatMap((lab) => [lab, ...a.blocks.filter((block) => block.owner_lab_id === lab.lab_id)]);
  const cell = (each, at) => {
    const gridRow = at + 2;
    if (each.block_id === undefined) return el("b", {gridRow, gridColumn: "1 / -1"}, names[each.lab_id], el("span.quiet", {}, ` ${say("reputation", {n: each.reputation.toFixed(2)})}`));
    const mine = each.owner_lab_id === game.seat, end = Math.min(each.start_round + each.duration, a.max_rounds), used = !["available", "reserved", "committed"].includes(each.status);
    return [el("span", {gridRow, gridColumn: "1"}, each.block_id), el(`span.bar${mine ? ".mine" : ""}${used ? ".gone" : ""}`,
      {gridRow, gridColumn: `${each.start_round + 2} / ${Math.max(end, each.start_round + 1) + 2}`, title: say("block", {reliability: each.reliability, energy: each.energy_cost, status: each.status})}, `${each.gpu_count} GPU`)];
  };
  const describe = (each) => {
    const lab = names[each.target_lab_id] ?? "", what = each.requested_block_ids || each.block_ids || each.payment || each.conditions
      ? trade(terms(each.block_ids ?? [], each.payment), each.job_id ?? terms(each.requested_block_ids ?? [], each.conditions?.ask)) : "";
    return [lab, each.offer_id, each.coalition_id, what || each.job_id, each.message].filter(Boolean).join(": ");
  };
  return [
    el("header", {}, el("div", {}, el("h1", {}, say("arena")), el("p.quiet", {}, [say("round", {now: Math.min(a.round_index + 1, a.max_rounds), all: a.max_rounds}), say("actions_left", {n: a.actions_left}),
      say("pressure", {band: say(a.market_pressure)}), a.announced && say("shock", {kind: a.announced.replaceAll("_", " ")})].filter(Boolean).join(" · "))),
      el("div.buyer", {}, el("span.price", {}, decimal(own.budget)), el("span.quiet", {}, say("alone", {n: decimal(own.batna)})))),
    el("div.blocks", {"--rounds": a.max_rounds, "--end": rows.length + 2}, el("span.now", {gridColumn: `${Math.min(a.round_index, a.max_rounds - 1) + 2}`}),
      ...Array.from({length: a.max_rounds}, (_, at) => el("span.head", {gridRow: 1, gridColumn: `${at + 2}`}, String(at + 1))), ...rows.flatMap(cell)),
    el("ul.jobs", {ariaLabel: say("jobs")}, ...own.jobs.map((job) => el("li", {}, el("b", {}, `${job.job_id} · ${credits(job.base_value * job.urgency_multiplier)}`), el("progress", {max: job.gpu_hours_required, value: job.on_time + job.late, ariaLabel: job.job_id}),
      say("job", {hours: Math.min(job.on_time + job.late, job.gpu_hours_required), all: job.gpu_hours_required, round: job.deadline_round, reliability: job.min_reliability})))),
    ...open.map((each) => el("div.row.seller.side", {}, el("span", {}, `${say("gives", {lab: names[each.from_lab_id]})} ${trade(terms(each.offered_blocks, each.payment), terms(each.requested_blocks, each.ask))}`),
      ...(host.serverTools && !game.over ? [button(`take-${each.offer_id}`, say("take"), () => play("accept", {offer_id: each.offer_id}), {main: true}), button(`drop-${each.offer_id}`, say("drop"), () => play("reject", {offer_id: each.offer_id}))] : []))),
    a.messages.length ? el("ul.log", {tabIndex: 0, ariaLabel: say("talk")}, ...a.messages.slice(-6).map((each) => el(`li.${each.from_lab_id === game.seat ? "buyer" : "seller"}`, {}, el("b", {}, names[each.from_lab_id] ?? each.from_lab_id), each.message))) : null,
    last ? el(`p.verdict.${last.ok ? "won" : "lost"}`, {}, `${last.code.replaceAll("_", " ")}: ${last.message}`) : null,
    game.over ? verdict(game, say(`end_${game.outcome.end}`), say("settled", {n: decimal(game.outcome.payoffs[game.seat])})) : host.serverTools ? moves(game, describe) : el("p.quiet", {}, say("watch")),
    game.over ? el("div.row", {}, again(game.task)) : null,
  ];
}
function moves(game, describe) {
  const kinds = el("select", {id: "kind", ariaLabel: say("move")}), which = el("select", {id: "which", ariaLabel: say("terms")});
  const words = el("input", {id: "words", type: "text", maxLength: 500, placeholder: say("words"), ariaLabel: say("words")});
  const listed = async (kind) => (await call("legal_actions", {game_id: game.game_id, ...(kind ? {action_type: kind} : {})})).structuredContent;
  const choose = async () => {
    const {actions} = await listed(kinds.value), [first] = actions;
    which.replaceChildren(...actions.map((each) => el("option", {value: JSON.stringify(each)}, describe(each) || say(kinds.value))));
    words.hidden = !TALKS.includes(kinds.value);
    words.value = first?.message ?? "";
  };
  kinds.onchange = () => choose().catch((error) => fault(error.message));
  listed().then(({counts}) => {
    kinds.replaceChildren(...Object.keys(counts).map((kind) => el("option", {value: kind}, say(kind))));
    kinds.value = "allocate_to_job" in counts ? "allocate_to_job" : "send_offer" in counts ? "send_offer" : "wait";
    return choose();
  }).catch((error) => fault(error.message));
  const act = () => play("arena_action", {action: {...JSON.parse(which.value), ...(words.hidden || !words.value ? {} : {message: words.value})}});
  return el("div", {role: "group", ariaLabel: say("move")}, el("div.row", {}, kinds, which), el("div.row", {}, words, button("act", say("act"), act, {main: true}), leave(() => play("walk_away", {}))));
}

main.append(el("p.quiet", {}, say("waiting")));
new ResizeObserver(() => post({method: "ui/notifications/size-changed", params: {height: Math.ceil(document.body.getBoundingClientRect().height)}})).observe(document.body);
ask("ui/initialize", {appInfo: {name: "sauda", version: "1.0.0"}, appCapabilities: {availableDisplayModes: ["inline"]}, protocolVersion: "2026-01-26"}).then((answer) => {
  host = answer.hostCapabilities;
  dress(answer.hostContext);
  post({method: "ui/notifications/initialized"});
});
