// What the page shows stands in its address: the filter is the query string, the look of the page stands behind "#".
// Every control writes it and reads it, so that Back, Forward and a copied address show the same.

const pairsOf = (text) => [...new URLSearchParams(text)].filter(([key]) => key !== "token");

// Values under keys in one part of the address. A change is a new entry of the history; a soft change, as that of a slider,
// replaces the entry of the soft change before it, if that was of the same keys.
function addressPart(read, address) {
  const listeners = [];
  let pairs = pairsOf(read()), last = null;
  const all = (key) => pairs.filter(([name]) => name === key).map(([, value]) => value);
  const tell = (changed) => { for (const listener of listeners) listener(changed); };
  return {
    all,
    one: (key, missing = null) => all(key)[0] ?? missing,
    has: (key) => pairs.some(([name]) => name === key),
    keys: () => [...new Set(pairs.map(([name]) => name))],
    pairs: () => pairs.map((pair) => [...pair]),
    text: () => new URLSearchParams(pairs).toString(),
    listen: (listener) => { listeners.push(listener); },
    // changes: {key: value, list of values, or null to remove it}.
    set(changes, { soft = false } = {}) {
      const before = new URLSearchParams(pairs).toString();
      for (const [key, value] of Object.entries(changes)) {
        const values = value === null ? [] : [value].flat().map(String);
        const first = pairs.findIndex(([name]) => name === key), others = pairs.filter(([name]) => name !== key);
        others.splice(first < 0 ? others.length : first, 0, ...values.map((one) => [key, one]));
        pairs = others;
      }
      const now = new URLSearchParams(pairs).toString();
      if (now === before) return;
      const name = soft ? Object.keys(changes).join() : null;
      history[soft && name === last ? "replaceState" : "pushState"](null, "", address(now));
      last = name;
      tell(Object.keys(changes));
    },
    // The reader went back or forward, or wrote another address.
    again() {
      const found = pairsOf(read());
      const same = new URLSearchParams(found).toString() === new URLSearchParams(pairs).toString();
      pairs = found;
      last = null;
      if (!same) tell(null);
    },
  };
}

// The filter, with the names of the API.
const STATE = addressPart(() => location.search, (text) => `${location.pathname}${text && `?${text}`}${location.hash}`);
// The look: colour, size of the cards, hidden kinds of regions, the image that is shown large.
const VIEW = addressPart(() => location.hash.slice(1), (text) => `${location.pathname}${location.search}${text && `#${text}`}`);

window.addEventListener("popstate", () => {
  STATE.again();
  VIEW.again();
});

// Keys that choose how marks are judged or how images are ordered; the others choose marks and images.
const SETTINGS = ["model", "models", "at_score", "at_iou", "sort", "order"];

const toggled = (values, value) => (values.includes(value) ? values.filter((other) => other !== value) : [...values, value]);

// "LOW..HIGH": either may be empty, which is null here.
function rangeOf(text) {
  const [low, high] = (text || "").split("..");
  const number = (part) => (part === undefined || part.trim() === "" || Number.isNaN(Number(part)) ? null : Number(part));
  return [number(low), number(high)];
}

const rangeText = (low, high) => (low === null && high === null ? null : `${low ?? ""}..${high ?? ""}`);

// A sentence for the reader.
class Refusal extends Error {}

// What the server answers, at an address beside the one of the page. query: the filter, if it is not the one of the address.
// refused(status, answer) may throw an error of its own.
async function ask(path, { more = {}, query = STATE.text(), refused = null, ...options } = {}) {
  const first = new URLSearchParams(more).toString();
  const address = `api/${path}${first || query ? "?" : ""}${[first, query].filter(Boolean).join("&")}`;
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The viewer does not answer. It may have been ended in its terminal: start the command again there, and open the address that it prints.");
  }
  if (response.ok) return response.json();
  let told = {};
  try {
    told = await response.json();
  } catch {
    // The answer is no JSON: its status says all.
  }
  refused?.(response.status, told);
  let { words } = told;
  if (response.status === 401 || response.status === 403) {
    words = "The viewer was started again, or this address is of another one. Open the address that the command printed in its terminal.";
  }
  throw new Refusal(words || `The viewer failed (status ${response.status}). Its terminal says more.`);
}
