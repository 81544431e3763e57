// SPDX-License-Identifier: Apache-2.0
// What the edit lock needs from the browser: a clock, an id for the tab, requests, settings, fields and drafts.

// ---- Time. A steady clock may stand still while a laptop sleeps, and the wall clock may be set: the longer time counts.

export const stamp = () => ({ steady: performance.now(), wall: Date.now() });
export const elapsed = (from) => Math.max(performance.now() - from.steady, Date.now() - from.wall);
export const pause = (ms) => new Promise((over) => setTimeout(over, ms));

const SHORTEST_MS = 500; // nothing is asked again sooner, whatever the server says
const LONGEST_MS = 2 ** 31 - 1; // a browser takes longer timers for 0

/** A time to wait that is never 0, unless that is said: what is no number becomes the other one. */
export function delay(ms, otherwise, shortest = SHORTEST_MS) {
  return Math.min(LONGEST_MS, Math.max(shortest, Number.isFinite(ms) ? ms : otherwise));
}

// ---- The tab. Its id is kept in sessionStorage, so that a reload is the same client. A duplicated tab copies that storage,
// so the id is also held as a Web Lock for as long as the page lives: who can't get it is a copy, and takes a new id.

const TAB = 'bitjang.tab';
const HANDOVER_MS = 500; // a page that is being reloaded gives its id free within this time

let tab;
let giveBack = () => {};

/** The id of this tab: 32 hexadecimal digits, the same for all locks of the page. */
export function tabId() {
  return (tab ??= claim());
}

async function claim() {
  const known = stored(() => sessionStorage.getItem(TAB));
  if (known && (await occupy(known))) return known;
  const fresh = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
  stored(() => sessionStorage.setItem(TAB, fresh));
  await occupy(fresh);
  return fresh;
}

function occupy(id) {
  if (!navigator.locks) return occupyByAsking(id);
  return new Promise((answer) => {
    const held = () => new Promise((free) => { giveBack = free; answer(true); });
    navigator.locks.request(`bitjang.${id}`, { signal: AbortSignal.timeout(HANDOVER_MS) }, held).catch(() => answer(false));
  });
}

/**
 * Web Locks exist on https and localhost only. Elsewhere the other tabs are asked; one that does not answer in time, because
 * its browser is busy, counts as gone, and its lock moves to this tab.
 */
function occupyByAsking(id) {
  const channel = new BroadcastChannel('bitjang.tabs');
  return new Promise((answer) => {
    const unused = setTimeout(() => {
      channel.onmessage = (message) => message.data === `is ${id} used?` && channel.postMessage(`${id} is used`);
      giveBack = () => channel.close();
      answer(true);
    }, HANDOVER_MS);
    channel.onmessage = (message) => {
      if (message.data !== `${id} is used`) return;
      clearTimeout(unused);
      channel.close();
      answer(false);
    };
    channel.postMessage(`is ${id} used?`);
  });
}

// A page that holds a Web Lock is never kept for the back button, so it is given back when the page is left.
addEventListener('pagehide', () => giveBack());
addEventListener('pageshow', async (event) => event.persisted && tab && occupy(await tab));

// ---- Requests.

/** Thrown when there is no answer that says anything about the lock: offline, too slow, or a server in trouble. */
export class NoAnswer extends Error {}

const NOT_NOW = new Set([408, 409, 425, 429]);
const TOO_MANY = 'urn:bitjang:too-many-locks'; // waiting does not help: this person has to close another editor first

/** The path of the lock named `type/id`, below the endpoints. */
export function pathOf(name) {
  const slash = name.indexOf('/');
  if (slash < 1) throw new Error(`An edit lock is named "type/id", not "${name}".`);
  return [name.slice(0, slash), name.slice(slash + 1)].map(encodeURIComponent).join('/');
}

let csrfKind = 0; // which of the page's tokens the server takes

/**
 * `{status, body, sentAt}`. A redirect has the status 401, and so has an answer that is not the edit lock's (a login page, a
 * gateway): whoever sent it, it confirms no lock. The lock id goes into a header, never a URL. The server is told that a script
 * asks: otherwise it may ask for a password (`WWW-Authenticate: Basic`), and the browser would show a dialog for it.
 */
async function request(form, url, { method, token, body, version, timeoutMs, keepalive = false }) {
  const headers = { Accept: 'application/json, application/problem+json', 'X-Requested-With': 'XMLHttpRequest' };
  if (token) headers['Lock-Token'] = token;
  if (version) headers['If-Match'] = `"${version}"`;
  if (body) headers['Content-Type'] = 'application/json';
  const send = () => fetch(url, {
    method, keepalive, redirect: 'manual', credentials: 'same-origin', cache: 'no-store',
    headers: { ...headers, ...csrfTokens(form)[csrfKind] },
    body: body && JSON.stringify(body),
    signal: timeoutMs ? AbortSignal.timeout(timeoutMs) : undefined,
  });
  let sentAt = stamp();
  let response;
  let answer;
  try {
    response = await send();
    if (response.status === 403 && !isProblem(response) && csrfKind + 1 < csrfTokens(form).length) {
      csrfKind++;
      sentAt = stamp();
      response = await send();
    }
    answer = /[/+]json/.test(response.headers.get('Content-Type')) ? ((await response.json()) ?? {}) : {};
  } catch (cause) {
    throw new NoAnswer('The edit lock’s server could not be reached.', { cause });
  }
  const { status, type, ok, redirected } = response;
  const own = isProblem(response) && String(answer.type).startsWith('urn:bitjang:');
  const noAnswer = (status >= 500 && status !== 501) || (NOT_NOW.has(status) && answer.type !== TOO_MANY);
  if (noAnswer) throw new NoAnswer(`The edit lock’s server answered ${status}.`);
  const foreign = type === 'opaqueredirect' || redirected || (ok && status !== 204 && !isAnswer(method, token, answer));
  return { status: foreign ? 401 : status, body: answer, sentAt, own };
}

/**
 * The same. A filter that looks for the token of a session refuses a page whose session has ended (403) before anybody asks who
 * sent it. Looking needs no token, so its answer tells: signed out, or signed in again since, with another token than the page's.
 */
export async function ask(form, lockUrl, { path = '', ...options }) {
  const answer = await request(form, lockUrl + path, options);
  if (answer.status !== 403 || answer.own || options.method === 'GET' || options.keepalive) return answer;
  const { status } = await request(form, lockUrl, { method: 'GET', timeoutMs: options.timeoutMs });
  if (status !== 200 && status !== 401) return answer;
  return { ...answer, status: 401, text: status === 200 ? 'signed-in-anew' : 'signed-out' };
}

function isAnswer(method, token, body) {
  return method === 'GET' ? typeof body.held === 'boolean' : Number.isFinite(body.expiresInMs) && !!(body.token ?? token);
}

/** Whether the edit lock itself has answered, and not a filter before it. */
function isProblem(response) {
  return response.headers.get('Content-Type')?.startsWith('application/problem+json');
}

/**
 * Spring Security's token. It is in the page's head or in the form; or in a cookie, and then a server made for scripts
 * (`csrf.spa()`) takes only the cookie's, while others take only the page's. So the second is tried where the first is refused.
 */
function csrfTokens(form) {
  const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content;
  const inPage = meta('_csrf') || form.elements.namedItem('_csrf')?.value;
  const inCookie = /(?:^|;\s*)XSRF-TOKEN=([^;]+)/.exec(document.cookie)?.[1];
  const tokens = [];
  if (inPage) tokens.push({ [meta('_csrf_header') || (inCookie ? 'X-XSRF-TOKEN' : 'X-CSRF-TOKEN')]: inPage });
  if (inCookie) tokens.push({ 'X-XSRF-TOKEN': decodeURIComponent(inCookie) });
  return tokens;
}

// ---- Settings and fields.

/** What a page has chosen: by an option, else by an attribute of its form, else as it is for all. */
export function settingsOf(form, options) {
  const { dataset } = form;
  return {
    name: options.lock ?? dataset.bitjangEditLock ?? '',
    base: options.base ?? dataset.bitjangBase,
    take: options.take ?? dataset.bitjangTake ?? 'load',
    note: options.note ?? dataset.bitjangNote,
    draft: options.draft ?? dataset.bitjangDraft !== 'off',
    status: options.status ?? dataset.bitjangStatus,
    mayTakeOver: options.takeOver ?? 'bitjangTakeover' in dataset,
    message: options.message,
    reload: () => (dataset.bitjangReload ? location.assign(dataset.bitjangReload) : location.reload()),
  };
}

/** Sets a hidden field of the form, which is made if there is none. */
export function setHidden(form, name, value) {
  let field = form.elements.namedItem(name);
  if (!field) {
    field = Object.assign(document.createElement('input'), { type: 'hidden', name });
    form.append(field);
  }
  field.autocomplete = 'off'; // or the browser puts an old value back when it restores the page
  field.value = value;
}

// ---- Drafts. Each page writes a draft of its own, so that none ever replaces another's. It holds what a person has typed:
// no hidden or file field, no password, also while it is shown, no card, no one-time code, and never the lock id.

const DRAFT = 'bitjang.draft:';
const SUBMITTED = 'bitjang.submitted';
const WEEK_MS = 7 * 24 * 3600 * 1000;
const UNKEPT = new Set(['hidden', 'password', 'file', 'submit', 'image', 'button', 'reset']);
const SECRET = /^(cc-.*|one-time-code|(current|new)-password)$/i; // what a page says that a field is for

export class Drafts {
  #form;
  #prefix;
  #own;
  #passwords = new Set(); // the names of fields that were a password field at some time: a page may show what is in them
  #types = new MutationObserver((changes) => this.#notice(changes));

  constructor(form, name) {
    this.#form = form;
    this.#prefix = `${DRAFT}${name}:`;
    this.#own = this.#prefix + Date.now().toString(36) + Math.random().toString(36).slice(2, 8);
    // The whole page, because a field may be outside of its form.
    this.#types.observe(document, { subtree: true, attributeFilter: ['type'], attributeOldValue: true });
    this.#notice([]);
  }

  #notice(changes) {
    for (const { target, oldValue } of changes) if (oldValue?.toLowerCase() === 'password') this.#passwords.add(target.name);
    for (const field of this.#form.elements) if (field.type === 'password') this.#passwords.add(field.name);
  }

  #fields() {
    this.#notice(this.#types.takeRecords());
    return [...this.#form.elements].filter((field) =>
      field.name && 'value' in field && field.tagName !== 'OUTPUT' && !UNKEPT.has(field.type) && !this.#isSecret(field)
      && !field.closest('[data-bitjang-no-draft]'));
  }

  /** By the attribute as it is: its tokens may come in any number, and the property is empty for those that it does not know. */
  #isSecret(field) {
    const purposes = (field.getAttribute('autocomplete') ?? '').split(/\s+/);
    return this.#passwords.has(field.name) || purposes.some((purpose) => SECRET.test(purpose)) || isMasked(field);
  }

  #values(of) {
    return this.#fields().map((field) => [field.name, of(field)]);
  }

  /** Whether the form holds anything else than the server has sent. */
  get isChanged() {
    return JSON.stringify(this.#values(now)) !== JSON.stringify(this.#values(initial));
  }

  write(owner) {
    if (!this.isChanged) return this.remove();
    const draft = { owner, at: Date.now(), values: this.#values(now) };
    stored(() => localStorage.setItem(this.#own, JSON.stringify(draft)));
  }

  remove(key = this.#own) {
    stored(() => localStorage.removeItem(key));
  }

  /** The page that comes after a save says so; until then the draft stays. */
  submitted() {
    stored(() => sessionStorage.setItem(SUBMITTED, this.#own));
  }

  /** What this person left here, the newest first; what is the same as the form is thrown away. */
  left(owner) {
    const same = [JSON.stringify(this.#values(now)), JSON.stringify(this.#values(initial))];
    const drafts = [];
    for (const key of draftKeys(this.#prefix)) {
      const draft = stored(() => JSON.parse(localStorage.getItem(key)));
      if (key === this.#own || !draft || draft.owner !== owner) continue;
      if (same.includes(JSON.stringify(draft.values))) this.remove(key);
      else drafts.push({ key, ...draft });
    }
    return drafts.sort((one, other) => other.at - one.at);
  }

  /** Puts a draft into the fields, as if it had been typed; it is this page's own then. */
  restore(draft) {
    const values = [...draft.values];
    for (const field of this.#fields()) {
      const at = values.findIndex(([name]) => name === field.name);
      if (at < 0) continue;
      const [[, value]] = values.splice(at, 1);
      if (field.type === 'checkbox' || field.type === 'radio') field.checked = value;
      else if (field.type === 'select-multiple') for (const o of field.options) o.selected = value.includes(o.value);
      else field.value = value;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      field.dispatchEvent(new Event('change', { bubbles: true }));
    }
    this.write(draft.owner);
  }
}

/** Removes the draft of the form this tab has sent last: to be called where the save is known to have worked. */
export function forgetSubmitted(name) {
  const key = stored(() => sessionStorage.getItem(SUBMITTED));
  if (!key?.startsWith(`${DRAFT}${name}:`)) return;
  stored(() => localStorage.removeItem(key));
  stored(() => sessionStorage.removeItem(SUBMITTED));
}

/** Removes all drafts of this browser: for the sign-out of a computer that several people use. */
export function clearDrafts() {
  for (const key of draftKeys(DRAFT)) stored(() => localStorage.removeItem(key));
}

/** Removes what is older than a week, whoever's it is: nobody else may ever open that form here again. */
function forgetOldDrafts() {
  for (const key of draftKeys(DRAFT)) {
    const written = stored(() => JSON.parse(localStorage.getItem(key)))?.at;
    if (!(Date.now() - written <= WEEK_MS)) stored(() => localStorage.removeItem(key));
  }
}

function draftKeys(prefix) {
  return stored(() => Object.keys(localStorage).filter((key) => key.startsWith(prefix))) ?? [];
}

/** A text field that is shown as dots is a password field by another name. */
function isMasked(field) {
  const { webkitTextSecurity = 'none' } = getComputedStyle(field);
  return webkitTextSecurity !== 'none';
}

function now(field) {
  if (field.type === 'checkbox' || field.type === 'radio') return field.checked;
  if (field.type === 'select-multiple') return [...field.selectedOptions].map((option) => option.value);
  return field.value;
}

function initial(field) {
  if (field.type === 'checkbox' || field.type === 'radio') return field.defaultChecked;
  if (field.tagName !== 'SELECT') return field.defaultValue;
  const chosen = [...field.options].filter((option) => option.defaultSelected).map((option) => option.value);
  return field.multiple ? chosen : (chosen.at(-1) ?? field.options[0]?.value ?? '');
}

/** A browser may forbid its storage, or have no room left: then there is no draft, and editing goes on. */
function stored(action) {
  try {
    return action();
  } catch (refused) {
    console.warn('Bitjang keeps no draft: the browser refused its storage.', refused.name);
    return null;
  }
}

forgetOldDrafts();
