// A visitor's own model plays an entry of the leaderboard from this tab: the page renders the prompts
// and reads the replies, and this script carries them to the model. The key stays in its field, and
// is sent to the visitor's address alone.
const field = (name) => element.querySelector(`[name=${name}]`);
const part = (name) => element.querySelector(`.${name}`);
const home = new URL(".", location.href).href, WAITS = [2, 8, 30], PER_TOKEN = 4, LONGEST_REPLY = 10_000;
const MEANT = {401: "does not take the key", 402: "asks for a payment", 404: "has no such address or model",
  429: "has had too many calls for now"};
// Of a call that carries a secret: to this address and no other, with nothing else of the visitor.
const ALONE = {credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", cache: "no-store"};
let entry = null, turn = null, busy = false, running = false, read = 0, written = 0, ended = 0;
class Stopped extends Error {}
const wait = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });
const say = (text) => { part("sauda-now").textContent = text; };
const fault = (text) => { part("sauda-fault").textContent = text.charAt(0).toUpperCase() + text.slice(1); };
const log = (text) => { part("sauda-log").append(Object.assign(document.createElement("li"), {textContent: text})); };

// The sentence in the body of a refusal, as the page and most providers write it, or all of it.
function reason_in(text) {
  try {
    const {detail, error} = JSON.parse(text);
    const told = detail ?? error.message ?? error;
    return typeof told === "string" ? told : text;
  } catch { return text; }
}
// The JSON object at `url`, asked for again where it is refused for now; Stopped, with a sentence.
async function ask(who, url, options, waits = WAITS) {
  let why = `${who} does not answer, or lets no page of another site ask (CORS)`, for_now = true;
  const answer = await fetch(url, options).catch(() => null), text = (await answer?.text())?.trim();
  if (answer?.ok) {
    try { return JSON.parse(text); } catch { throw new Stopped(`${who} answers no JSON object`); }
  }
  if (answer) {
    const key = field("key").value.trim(), reason = reason_in(text);
    const told = (key ? reason.replaceAll(key, "…") : reason).slice(0, 300); // some quote it
    for_now = answer.status === 429 || answer.status >= 500;
    const meant = MEANT[answer.status] ?? (for_now ? "fails" : "refuses the call");
    why = `${who} ${meant} (status ${answer.status}): ${told}`;
  }
  if (!for_now || !running || !waits.length) throw new Stopped(why);
  fault(`${why}; again in ${waits[0]} s`);
  await wait(waits[0]);
  return ask(who, url, options, waits.slice(1));
}
function sent(body, headers = {}) {
  return {method: "POST", headers: {"Content-Type": "application/json", ...headers}, body: JSON.stringify(body)};
}
const page = (path, body) => ask("the page", `${home}leaderboard${path}`, body && sent(body));

// The model's reply to a prompt. One without words is no move, so it is asked for again.
async function complete(messages) {
  const key = field("key").value.trim(), base = field("base").value.trim().replace(/\/+$/, "");
  const call = sent({model: field("model").value.trim(), messages}, key && {Authorization: `Bearer ${key}`});
  let why = "";
  for (let tries = 0; tries < 3; tries++) {
    const {choices, usage} = await ask("the provider", `${base}/chat/completions`, {...call, ...ALONE});
    const {message, finish_reason} = choices?.[0] ?? {};
    if (!message) throw new Stopped("the provider’s answer holds no message of a model");
    read += usage?.prompt_tokens ?? 0;
    written += usage?.completion_tokens ?? 0;
    if (message.content) return message.content;
    why = message.refusal ?? `it ended by ${finish_reason}`;
  }
  throw new Stopped(`the model answered three times without words (${why})`);
}
function cost(tokens_read, tokens_written) {
  const count = (tokens) => Math.round(tokens).toLocaleString("en"), price = (name) => field(name).valueAsNumber;
  const money = (tokens_read * price("read_price") + tokens_written * price("written_price")) / 1e6;
  const told = `${count(tokens_read)} tokens read, ${count(tokens_written)} written`;
  return money >= 0 ? `${told}, ${money.toFixed(2)} in money` : told; // NaN where no price is given
}
function report() {
  const {game, games, messages} = turn, share = messages.length ? game - 1 : games;
  Object.assign(part("sauda-progress"), {max: games, value: share});
  const scale = (games - share + ended) / ended; // of the games of this tab, and of those to come
  const whole = ended && messages.length ? `; to the end about ${cost(read * scale, written * scale)}` : "";
  say(`${running ? "" : "Paused. "}${share} of ${games} games over; so far ${cost(read, written)}${whole}.`);
}
async function play() {
  while (running && turn.messages.length) {
    const reply = (await complete(turn.messages)).slice(0, LONGEST_REPLY);
    turn = await page("/turn", {token: entry.token, game: turn.game, step: turn.step, reply});
    fault(turn.error && `No move was in a reply: ${turn.error}`);
    if (turn.end) {
      ended += 1;
      log(`game ${turn.messages.length ? turn.game - 1 : turn.game}: ${turn.end}, grade ${turn.grade.toFixed(3)}`);
    }
    report();
  }
  if (turn.messages.length) return;
  const {entries} = await page(`?task=${turn.task}`), row = entries.find((each) => each.entry === turn.entry);
  const grade = row ? `mean grade ${row.score.toFixed(3)}, which the page computed` : "its row is further down";
  say(`Complete: ${grade}; ${cost(read, written)}. Choose the task above to see it among the others.`);
}
async function begin() {
  const token = field("token").value.trim();
  if (token !== (entry?.token ?? "")) [entry, turn, ended] = [null, null, 0];
  entry ??= token ? {token} : await page("/enter", {name: field("name").value, task: field("task").value});
  field("token").value = entry.token;
  turn ??= await page("/turn", {token: entry.token});
  report();
  await play();
}
const PRESSED = {
  async cost() {
    const {calls, read: characters, written: replies, sample} = await page(`/typical?task=${field("task").value}`);
    say(`About ${calls} calls, ${cost(characters / PER_TOKEN, replies / PER_TOKEN)}, by ${sample} games of a script and`
      + ` ${PER_TOKEN} characters per token. A model that thinks before it answers writes more.`);
    element.querySelector("[data-press=begin]").disabled = false;
  },
  begin,
  // OpenRouter's PKCE: its window comes back to this page with a code, which the verifier, known to
  // this tab alone, turns into a key.
  async sign() {
    const drawn = crypto.getRandomValues(new Uint8Array(32));
    const code_verifier = Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code_verifier)));
    const challenge = btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const method = {code_challenge_method: "S256"};
    const query = new URLSearchParams({callback_url: `${home}health`, code_challenge: challenge, ...method});
    const opened = window.open(`https://openrouter.ai/auth?${query}`, "_blank", "width=480,height=720");
    let code = null;
    while (!code && opened && !opened.closed) {
      await wait(0.3);
      try { code = new URL(opened.location.href).searchParams.get("code"); } catch { /* still at the other site */ }
    }
    opened?.close();
    if (!code) throw new Stopped("the window of OpenRouter was closed before it gave a code");
    const given = {...sent({code, code_verifier, ...method}), ...ALONE}, api = "https://openrouter.ai/api/v1";
    field("key").value = (await ask("OpenRouter", `${api}/auth/keys`, given)).key;
    field("base").value = api;
  },
};
element.addEventListener("change", ({target}) => { // another task costs something else
  if (target.name === "task") element.querySelector("[data-press=begin]").disabled = true;
});
element.addEventListener("click", async ({target}) => {
  const press = target.closest("button")?.dataset.press, pause = element.querySelector("[data-press=pause]");
  if (press === "pause") running = false; // after the call that is under way
  if (busy || !(press in PRESSED)) return;
  [busy, running, pause.disabled] = [true, true, press !== "begin"];
  fault("");
  try { await PRESSED[press](); } catch (error) {
    if (!(error instanceof Stopped)) console.error(error);
    fault(`${error.message}. Nothing is lost: begin goes on from here.`);
  }
  [busy, running, pause.disabled] = [false, false, true];
});
