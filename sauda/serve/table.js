// The view of a game in an agent's chat, an MCP App: it speaks JSON-RPC with its host alone, loads
// nothing, and plays by the tools of the server that sent it.
const main = document.getElementById("game"), context = {}, waiting = new Map();
let host = {}, shown = null, asked = 0, typed = {}; // typed: the price and words of a move to come

// Words and parts of the page; whatever a player wrote becomes text, never markup.
const language = () => ((context.locale ?? navigator.language).startsWith("hi") ? "hi" : "en");
// The words of a key; their values by name, or a price alone.
function say(key, values = {}) {
  const named = typeof values === "number" ? {price: rupees(values)} : values;
  return (WORDS[key]?.[language()] ?? key).replace(/\{(\w+)\}/g, (_, name) => named[name]);
}
const number = (value, places) =>
  value.toLocaleString("en-IN", {minimumFractionDigits: value % 1 && places, maximumFractionDigits: places})
    .replace("-", "−");
const rupees = (price) => `₹${number(price, 2)}`, decimal = (value) => number(value, 1);
const dotted = (parts) => parts.filter(Boolean).join(" · ");
function el(tag, set = {}, ...inside) {
  const [name, ...classes] = tag.split("."), made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(set)) {
    if (key.startsWith("--") || key.startsWith("grid-")) made.style.setProperty(key, value);
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside.filter(Boolean));
  return made;
}
function picture(name) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 64 64");
  drawn.setAttribute("aria-hidden", "true");
  drawn.append(...(document.getElementById(name)?.cloneNode(true).childNodes ?? []));
  return drawn;
}
const button = (id, text, onclick, kind = "button") => el(kind, {id, type: "button", onclick}, text);

// The host: requests to it, and what it sends.
const post = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
const ask = (method, params) => new Promise((answer, refuse) => {
  waiting.set(++asked, {answer, refuse});
  post({id: asked, method, params});
});
const call = (name, given) => ask("tools/call", {name, arguments: given});
const game_in = (result) => result.structuredContent ?? JSON.parse(result.content[0].text);
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
  Object.assign(context, changed);
  const {style} = document.documentElement, {theme, styles, safeAreaInsets: inset} = context;
  const fonts = Object.entries(styles?.variables ?? {}).filter(([name]) => name.startsWith("--font"));
  for (const [name, value] of fonts) style.setProperty(name, value);
  style.colorScheme = theme ?? "light dark";
  document.documentElement.lang = language();
  if (inset) document.body.style.padding = `${inset.top}px ${inset.right}px ${inset.bottom}px ${inset.left}px`;
}
const fault = (text) => { document.getElementById("fault").textContent = text; };
const news = (text) => { document.getElementById("news").textContent = text; };

async function show(result) {
  if (result.isError) return fault(result.content.map((part) => part.text).join(" "));
  const now = {game: game_in(result), words: result._meta?.["sauda/words"]};
  shown = now;
  fault("");
  draw();
  if (!now.game.over || !now.game.bazaar || !host.serverTools) return;
  const review = await call("review_game", {game_id: now.game.game_id});
  if (!review.isError) now.limits = game_in(review).limits;
  if (shown === now) draw();
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
// game as it now is, for what is pressed at one price could be taken at another.
async function play(name, given) {
  const {game_id} = shown.game, drawn = JSON.stringify(shown.game);
  main.inert = true;
  try {
    const now = await call("view_game", {game_id});
    if (now.isError || JSON.stringify(game_in(now)) !== drawn) {
      await show(now);
      if (!now.isError) fault(say("elsewhere"));
      return;
    }
    const after = await call(name, {game_id, ...given});
    if (!after.isError) typed = {};
    await show(after);
    if (after.isError) return;
    news([...main.querySelectorAll(".log li:last-child, .verdict")].map((part) => part.textContent).join(" "));
    const text = `The person played ${name} ${JSON.stringify(given)} in game ${game_id}; view_game shows it now.`;
    if (host.updateModelContext) await ask("ui/update-model-context", {content: [{type: "text", text}]});
  } catch (error) {
    fault(say("unanswered", {why: error.message}));
  } finally {
    main.inert = false;
  }
}
const leave = (given) => button("leave", say("leave"), ({target}) => { // asks once
  if (target.dataset.asked) play("walk_away", given());
  else { target.dataset.asked = "yes"; target.textContent = say("really"); }
});
const words_field = () => el("input", {id: "words", type: "text", maxLength: 500, value: typed.words ?? "",
  placeholder: say("words"), ariaLabel: say("words"), oninput: ({target}) => { typed.words = target.value; }});
function ending(game, head, more) {
  const {grade, success} = game.outcome, {task} = game;
  const again = () => call("new_game", {task}).then(show, (error) => fault(error.message));
  return el("div", {role: "group"},
    el(`div.verdict.${success ? "won" : "lost"}`, {},
      el("b", {}, head), more, el("p.quiet", {}, say("grade", {grade: number(grade, 2)}))),
    host.serverTools && el("div.row", {}, button("again", say("again"), again, "button.main")));
}

// The bazaar --------------------------------------------------------------------------------------
function bazaar(game) {
  const t = game.bazaar, {item, own} = t, words = shown.words?.[language()], sells = game.seat === "seller";
  const theirs = sells ? t.bids : t.asks, best = sells && t.standing && theirs.length;
  const taken = best ? Math.max(...theirs) : theirs.at(-1); // what an acceptance takes
  const revealed = shown.limits?.[t.past.length - 1]?.[sells ? "buyer" : "seller"];
  const active = t.rivals.filter((rival) => rival.active).length, condition = words?.condition ?? item.condition;
  return [
    el("header", {}, words && picture(words.drawing), el("div", {},
      el("h1", {}, words?.name ?? item.name),
      el("p.quiet", {}, dotted([condition, say("list", item.list_price),
        t.deals > 1 && say("deal", {now: t.deal, all: t.deals}),
        own.purse !== null && say("purse", own.purse),
        own.quote !== null && say("quote", own.quote)])))),
    el("div.sides", {}, side(game, "seller", t.asks, revealed), side(game, "buyer", t.bids, revealed)),
    rail(game, taken, revealed),
    patience(t, game.over),
    t.rivals.length && el("p.quiet", {}, dotted([say("rivals", {n: active}), t.outbid && say("outbid")])),
    el("ul.log", {tabIndex: 0, ariaLabel: say("talk")}, ...t.moves.map((move, at) => bubble(move, words?.glosses[at]))),
    game.over ? bazaar_ending(game) : host.serverTools ? controls(game, taken) : el("p.quiet", {}, say("watch")),
  ];
}
function side(game, seat, prices, revealed) {
  const you = seat === game.seat, limit = you ? game.bazaar.own.reservation : revealed;
  const about = limit === undefined ? seat === "seller" ? "asks" : "bids" : you ? "limit_is" : "limit_was";
  return el(`div.side.${seat}`, {}, picture(you ? "stranger" : "firm"), el("div", {},
    el("h2", {}, say(you ? `you_${seat}` : seat)),
    el("span.price", {}, prices.length ? rupees(prices.at(-1)) : "…"),
    el("span.quiet", {}, say(about, limit))));
}
function bazaar_ending(game) {
  const {price} = game.bazaar.past.at(-1) ?? {}, {end, forfeit, payoffs} = game.outcome, gain = payoffs[game.seat];
  if (forfeit || price == null) return ending(game, say(`end_${end}`), forfeit);
  return ending(game, say("deal_at", price), say(gain < 0 ? "lost" : "gained", Math.abs(gain)));
}
function bubble(move, gloss) {
  const deed = move.action === "offer" ? rupees(move.price) : say(`did_${move.action}`);
  const {eye_contact, posture, offer_speed} = move.tells ?? {};
  const manner = [eye_contact, posture, offer_speed].filter((value) => value in WORDS);
  return el(`li.${move.agent === "seller" ? "seller" : "buyer"}`, {},
    el("b", {}, [deed, ...move.extras.map((name) => say(name))].join(" + ")),
    /\p{L}/u.test(move.message) && el("span", {lang: /[\u0900-\u097f]/.test(move.message) ? "hi" : ""}, move.message),
    gloss && el("p.gloss", {}, `≈ ${gloss}`),
    manner.length && el("p.quiet", {}, manner.map((value) => say(value)).join(", ")));
}
function patience(t, over) {
  const {discount, deadline} = t.own, rounds = {used: t.round, left: t.rounds - t.round, all: t.rounds};
  return el("p.quiet", {}, dotted([say(over ? "rounds_used" : "rounds_left", rounds),
    !over && discount !== null && say("waiting_costs", {share: decimal(100 * (1 - discount))}),
    deadline !== null && say("deadline", {round: deadline})]));
}
function rail(game, taken, revealed) {
  const t = game.bazaar, limit = t.own.reservation, list = t.item.list_price, sells = game.seat === "seller";
  const marks = [list, limit, revealed ?? limit, ...t.asks, ...t.bids];
  const low = Math.floor(0.9 * Math.min(...marks, 0.6 * list)), high = Math.ceil(1.05 * Math.max(...marks));
  const x = (price) => (price - low) / (high - low);
  const tick = (price, key, where) => el(`div.tick.${where}`, {"--x": x(price)}, el("span", {}, say(key, price)));
  const dots = (prices, seat) => prices.map((price, at) =>
    el(`i.${seat}${at + 1 === prices.length ? ".last" : ""}`, {"--x": x(price)}));
  const bid = t.standing ? Math.max(...t.bids) : t.bids.at(-1), gap = t.asks.at(-1) - bid;
  const slide = el("input", {id: "slide", type: "range", min: low, max: high, disabled: game.over,
    ariaLabel: say("price"), "--mine": `var(--${sells ? "marigold" : "indigo"})`, oninput: ({target}) => {
      document.getElementById("price").value = target.value;
      document.getElementById("price").oninput();
    }});
  slide.step = Math.max(10 ** -t.decimals, 10 ** Math.floor(Math.log10(list)) / 100);
  slide.value = typed.price ?? suggested(t, sells, taken);
  return el("div.rail", {},
    t.bids.length && gap > 0 && el("div.gap", {"--x": x(bid), "--w": gap / (high - low)}), slide,
    revealed === undefined ? tick(list, "list", "above") : tick(revealed, "their_limit", "above"),
    tick(limit, "limit", "below"),
    ...dots(t.asks, "seller"), ...dots(t.bids, "buyer"));
}
// Where the next price is slid to at first: a third of the way from the last one, within the limit.
function suggested(t, sells, taken) {
  const limit = t.own.reservation, last = (sells ? t.asks : t.bids).at(-1);
  if (last === undefined) return sells ? 1.2 * Math.max(limit, t.item.list_price) : 0.7 * Math.min(limit, taken);
  const aim = sells ? Math.max(taken ?? last, limit) : Math.min(taken, limit);
  return last + (aim - last) / 3;
}
function controls(game, taken) {
  const t = game.bazaar, {reservation, values} = t.own, sells = game.seat === "seller";
  const mine = (sells ? t.asks : t.bids).at(-1);
  const box = (value) => el("input", {type: "checkbox", value, onchange: () => label()});
  const boxes = sells ? [] : t.extras.map(box);
  const extras = () => boxes.filter((each) => each.checked).map((each) => each.value);
  const loss = (price, names = []) => {
    const gain = names.reduce((sum, name) => sum + values[name], sells ? price - reservation : reservation - price);
    return gain < 0 && say("loss", -gain);
  };
  const price = el("input", {id: "price", type: "number", inputMode: "decimal", step: "any", min: 0,
    ariaLabel: say("price"), oninput: () => {
      typed.price = document.getElementById("slide").value = price.value;
      label();
    }});
  const words = words_field(), said = () => ({message: words.value});
  const move = () => ({price: price.valueAsNumber, ...said(), ...(boxes.length && {extras: extras()})});
  const bid = button("offer", "", () => play("offer", move()), "button.main");
  const label = () => {
    const named = price.valueAsNumber;
    bid.disabled = !(named > 0);
    bid.textContent = bid.disabled ? say("price") : dotted([say(sells ? "ask" : "bid", named), loss(named, extras())]);
  };
  price.onkeydown = words.onkeydown = ({key}) => { if (key === "Enter") bid.click(); };
  words.setAttribute("list", "phrases");
  queueMicrotask(() => { price.value = document.getElementById("slide").value; label(); }); // as the rail rounds it
  const phrases = say(sells ? "phrases_seller" : "phrases_buyer").split("|").map((value) => el("option", {value}));
  return el("div", {role: "group", ariaLabel: say("move")},
    boxes.length && el("div.row", {}, ...boxes.map((each) =>
      el("label.row", {}, each, `${say(each.value)} ${say("worth", values[each.value])}`))),
    el("div.row", {}, price, words, el("datalist", {id: "phrases"}, ...phrases)),
    el("div.row", {}, bid,
      taken && button("accept", dotted([say("accept", taken), loss(taken)]), () => play("accept", said())),
      mine && button("hold", say("hold", mine), () => play("reject", said())), leave(said)));
}

// The arena ---------------------------------------------------------------------------------------
const TALKS = ["make_pitch", "counter_pitch", "send_message", "send_offer", "form_coalition"];
const LIVE = ["available", "reserved", "committed"]; // of a block's status; of another it is used, or has failed
const credits = (money) => say("credits", {n: decimal(money)});
const terms = (blocks = [], money = 0) => [...blocks, ...(money ? [credits(money)] : [])].join(" + ") || "–";
const trade = (given, taken) => say("trade", {given, taken});
function arena(game) {
  const {arena: a, last_action: last} = game, {own} = a;
  const names = Object.fromEntries(a.labs.map((lab) => [lab.lab_id, lab.public_name]));
  names[game.seat] = say("you");
  const offers = game.over || !host.serverTools ? [] : a.offers.filter((each) => each.to_lab_id === game.seat);
  return [
    el("header", {},
      el("div", {}, el("h1", {}, say("arena")), el("p.quiet", {}, dotted([
        say("round", {now: Math.min(a.round_index + 1, a.max_rounds), all: a.max_rounds}),
        say("actions_left", {n: a.actions_left}), say("pressure", {band: say(a.market_pressure)}),
        a.announced && say("shock", {kind: a.announced.replaceAll("_", " ")})]))),
      el("div.buyer", {}, el("span.price", {}, decimal(own.budget)),
        el("span.quiet", {}, say("alone", {n: decimal(own.batna)})))),
    blocks(game, names),
    el("ul.jobs", {ariaLabel: say("jobs")}, ...own.jobs.map(job_card)),
    ...offers.map((each) => offer_row(each, names)),
    a.messages.length && el("ul.log", {tabIndex: 0, ariaLabel: say("talk")}, ...a.messages.slice(-6).map((each) =>
      el(`li.${each.from_lab_id === game.seat ? "buyer" : "seller"}`, {},
        el("b", {}, names[each.from_lab_id]), each.message))),
    last && el(`p.verdict.${last.ok ? "won" : "lost"}`, {}, `${last.code.replaceAll("_", " ")}: ${last.message}`),
    game.over
      ? ending(game, say(`end_${game.outcome.end}`), say("settled", {n: decimal(game.outcome.payoffs[game.seat])}))
      : host.serverTools ? choices(game, names) : el("p.quiet", {}, say("watch")),
  ];
}
function blocks(game, names) {
  const a = game.arena, owned = (lab) => a.blocks.filter((block) => block.owner_lab_id === lab.lab_id);
  const rows = a.labs.flatMap((lab) => [lab, ...owned(lab)]);
  const head = (_, at) => el("span.head", {"grid-row": 1, "grid-column": at + 2}, at + 1);
  const cells = (each, at) => {
    const {block_id, start_round, duration, reliability, energy_cost: energy, status} = each;
    const row = {"grid-row": at + 2};
    if (block_id === undefined) {
      const reputation = el("span.quiet", {}, ` ${say("reputation", {n: each.reputation.toFixed(2)})}`);
      return el("b", {...row, "grid-column": "1 / -1"}, names[each.lab_id], reputation);
    }
    const end = Math.max(Math.min(start_round + duration, a.max_rounds), start_round + 1);
    const kind = `${each.owner_lab_id === game.seat ? ".mine" : ""}${LIVE.includes(status) ? "" : ".gone"}`;
    const title = say("block", {reliability, energy, status});
    const set = {...row, "grid-column": `${start_round + 2} / ${end + 2}`, title};
    return [el("span", {...row, "grid-column": 1}, block_id), el(`span.bar${kind}`, set, `${each.gpu_count} GPU`)];
  };
  return el("div.blocks", {"--rounds": a.max_rounds, "--end": rows.length + 2},
    el("span.now", {"grid-column": Math.min(a.round_index, a.max_rounds - 1) + 2}),
    ...Array.from({length: a.max_rounds}, head), ...rows.flatMap(cells));
}
function job_card(job) {
  const {gpu_hours_required: all, deadline_round: round, min_reliability: reliability} = job;
  const hours = Math.min(job.on_time + job.late, all);
  return el("li", {}, el("b", {}, dotted([job.job_id, credits(job.base_value * job.urgency_multiplier)])),
    el("progress", {max: all, value: hours, ariaLabel: job.job_id}), say("job", {hours, all, round, reliability}));
}
function offer_row({offer_id, from_lab_id, offered_blocks, payment, requested_blocks, ask: price}, names) {
  return el("div.row.seller.side", {},
    el("span", {}, say("gives", {lab: names[from_lab_id]}), " ",
      trade(terms(offered_blocks, payment), terms(requested_blocks, price))),
    button(`take-${offer_id}`, say("take"), () => play("accept", {offer_id}), "button.main"),
    button(`drop-${offer_id}`, say("drop"), () => play("reject", {offer_id})));
}
function choices(game, names) {
  const kinds = el("select", {id: "kind", ariaLabel: say("move")}), words = words_field();
  const which = el("select", {id: "which", ariaLabel: say("terms")});
  const legal = async (given) => game_in(await call("legal_actions", {game_id: game.game_id, ...given}));
  const describe = (each) => {
    const {target_lab_id: lab, job_id, block_ids, requested_block_ids, payment, conditions} = each;
    const taken = job_id ?? terms(requested_block_ids, conditions?.ask);
    const deal = (requested_block_ids || block_ids || payment) && trade(terms(block_ids, payment), taken);
    const parts = [names[lab], each.offer_id, each.coalition_id, deal, each.message].filter(Boolean);
    return parts.join(": ") || say(each.action_type);
  };
  const choose = async () => {
    const {actions} = await legal({action_type: kinds.value});
    which.replaceChildren(...actions.map((each) => el("option", {value: JSON.stringify(each)}, describe(each))));
    words.hidden = !TALKS.includes(kinds.value);
    words.value = typed.words ?? actions[0]?.message ?? "";
  };
  kinds.onchange = () => choose().catch((error) => fault(error.message));
  legal({}).then(({counts}) => {
    kinds.replaceChildren(...Object.keys(counts).map((value) => el("option", {value}, say(value))));
    kinds.value = ["allocate_to_job", "send_offer", "wait"].find((kind) => kind in counts);
    return choose();
  }).catch((error) => fault(error.message));
  const message = () => !words.hidden && words.value && {message: words.value};
  const act = () => play("arena_action", {action: {...JSON.parse(which.value), ...message()}});
  return el("div", {role: "group", ariaLabel: say("move")}, el("div.row", {}, kinds, which),
    el("div.row", {}, words, button("act", say("act"), act, "button.main"), leave(() => ({}))));
}

main.append(el("p.quiet", {}, say("waiting")));
new ResizeObserver(() => {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  post({method: "ui/notifications/size-changed", params: {height}});
}).observe(document.body);
ask("ui/initialize", {
  appInfo: {name: "sauda", version: "1.0.0"},
  appCapabilities: {availableDisplayModes: ["inline"]},
  protocolVersion: "2026-01-26",
}).then((answer) => {
  host = answer.hostCapabilities;
  dress(answer.hostContext);
  post({method: "ui/notifications/initialized"});
});
