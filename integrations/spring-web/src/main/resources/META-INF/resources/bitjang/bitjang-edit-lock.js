// SPDX-License-Identifier: Apache-2.0
// The edit lock of a form: <form data-bitjang-edit-lock="order/42">. See "In the browser" in docs/edit-locks.md.
//
//   viewing ──► acquiring ──► held ◄──► uncertain
//                   │           └───────────┴──► lost (final: only a reload leads out of it)
//                   └──► held-by-other ──► held (by taking over)
//
// The server decides; this script makes sure that a person learns early what the server will say. Three rules carry it: a
// lease counts from when its request was sent; there is no Save without a confirmed lease; who has lost does not come back.

import {
  Drafts, NoAnswer, ask, clearDrafts, delay, elapsed, forgetSubmitted, pathOf, pause, setHidden, settingsOf, stamp, tabId,
} from './bitjang-edit-lock-parts.js';
import { Panel } from './bitjang-edit-lock-panel.js';

export { clearDrafts };

const BASE = new URL('edit-locks', import.meta.url).pathname; // next to this script, so below the same context path
const SLOWEST_MS = 10_000; // no request, pause between retries or look at another's lock takes longer
const LONGEST_SAVE_MS = 30_000; // after this, a Save that led nowhere (a download, an answer 204) may be pressed again
const LONGEST_LEAVE_MS = 3_000; // who comes back waits no longer for the word that the page was left
const DRAFT_PAUSE_MS = 300;

const locks = new WeakMap();

/** The edit lock of a form; the same one each time it is asked for. */
export function editLock(form, options = {}) {
  if (!locks.has(form)) locks.set(form, new EditLock(form, options));
  return locks.get(form);
}

class EditLock {
  #form;
  #url;
  #options;
  #panel;
  #drafts;
  #token = null; // in memory and in the hidden field: a reload resumes by the tab's id, so no storage has to know it
  #owner;
  #state = 'viewing';
  #shown = {}; // what the person is told: { text, owner, since, mine, fence, old, ended, refused }
  #fenceAtOpening;
  #deniedFence; // of the holder from whom this person may not take over, as the server has said
  #confirmed; // { sentAt, expiresInMs, renewInMs } of the newest confirmation
  #running = null; // the one request under way
  #saveAsked = false; // Save was pressed on this page, and waits for the lock to be confirmed
  #submitting = false; // the form is on its way
  #freeAt = null; // when the form was last sent by a button that does not save
  #left = null; // the word that the page was left, until a renewal has waited for its answer
  #draftsOffered = false;
  #timers = {};
  #listening = new AbortController();

  constructor(form, options) {
    const { name, base = BASE, ...settings } = settingsOf(form, options);
    this.#form = form;
    this.#url = `${base}/${pathOf(name)}`;
    this.#options = settings;
    this.#drafts = new Drafts(form, name);
    this.#panel = new Panel(form, { ...settings, takeOver: (reason) => this.takeOver(reason) });
    this.#listen();
    this.#start();
  }

  get state() { return this.#state; }

  /** The lock id while it is held, for a page that saves by itself. It belongs in the header Lock-Token and nowhere else. */
  get token() { return this.#state === 'held' ? this.#token : null; }

  async #start() {
    this.#token = this.#form.elements.namedItem('lid')?.value || null;
    if (this.#token) {
      this.#show('acquiring'); // the server took it before it read the data, which is the best order
      await this.renew();
    } else if (this.#options.take === 'load') {
      await this.#acquire();
    } else {
      this.#show('viewing');
      await this.#look();
    }
  }

  // ---- Requests: one at a time, and each answer leads to one state.

  #run(talk, whenNoAnswer) {
    clearTimeout(this.#timers.next);
    this.#running = (async () => {
      try {
        await talk();
      } catch (failure) {
        if (!(failure instanceof NoAnswer)) throw failure;
        whenNoAnswer();
      } finally {
        this.#running = null;
      }
    })();
    return this.#running;
  }

  /** After what is under way, if it is still wanted then: what asks nothing must not stop the timer of what comes next. */
  async #runAlone(talk, whenNoAnswer, isWanted = () => true) {
    while (this.#running) await this.#running;
    if (isWanted()) await this.#run(talk, whenNoAnswer);
  }

  #ask(method, rest = {}) {
    const timeoutMs = Math.min(SLOWEST_MS, Math.max(1_000, this.#confirmed?.renewInMs ?? SLOWEST_MS));
    return ask(this.#form, this.#url, { method, timeoutMs, ...rest });
  }

  #next(ms, action) {
    clearTimeout(this.#timers.next);
    this.#timers.next = setTimeout(action, delay(ms, SLOWEST_MS));
  }

  #retry(action) {
    this.#next(Math.min(SLOWEST_MS, (this.#confirmed?.renewInMs ?? 6_000) / 3), action);
  }

  #look() {
    return this.#runAlone(async () => {
      const answer = await this.#ask('GET');
      const { body } = answer;
      if (answer.status !== 200) this.#refuse(answer);
      else if (this.#state === 'held-by-other') this.#showOther(body);
      else if (body.held && body.mine) await this.#take(); // this tab before a reload, or another: the answer tells
      else if (body.held) this.#showOther(body);
    }, () => this.#retry(() => this.#look()), () => !this.#token);
  }

  #acquire() {
    this.#show('acquiring');
    return this.#runAlone(() => this.#take(), () => this.#retry(() => this.#acquire()), () => !this.#token);
  }

  async #take() {
    const body = { clientId: await tabId(), note: this.#options.note };
    const answer = await this.#askFresh('PUT', { body });
    if (answer.status === 200 || answer.status === 201) this.#confirm(answer);
    else if (answer.status === 423) this.#showOther(answer.body);
    else if (answer.status === 412) this.#lose('stale');
    else this.#refuse(answer);
  }

  /** Asks for the lock if the form is as new as the data. */
  async #askFresh(method, rest) {
    const version = this.#form.elements.namedItem('version')?.value;
    const answer = await this.#ask(method, { ...rest, version });
    return version && answer.status === 501 ? this.#ask(method, rest) : answer; // only the save compares versions here
  }

  /** Takes the lock from the holder that this page shows. The server's policy decides. */
  takeOver(reason) {
    return this.#runAlone(async () => {
      const { fence } = this.#shown;
      const answer = await this.#askFresh('POST', { path: '/takeover', body: { clientId: await tabId(), expectedFence: fence, reason } });
      if (answer.status === 201) return this.#confirm(answer);
      if (answer.body.type === 'urn:bitjang:stale-version') return this.#lose('stale');
      if (answer.body.type === 'urn:bitjang:denied') this.#deniedFence = fence;
      this.#showOther(this.#shown);
      this.#next(0, () => this.#look()); // it goes on watching, whatever was said: who has it now?
    }, () => this.#retry(() => this.#look()), () => this.#state === 'held-by-other' && !this.#shown.old);
  }

  /** Confirms the lock now. Settles when the answer is there, whatever it says. */
  renew() {
    if (!this.#token) return Promise.resolve();
    return this.#running ?? this.#run(() => this.#renew(), () => this.#doubt());
  }

  async #renew() {
    if (!this.#form.isConnected) return this.#giveBack();
    if (this.#left) await Promise.race([this.#left, pause(LONGEST_LEAVE_MS)]);
    this.#left = null;
    const token = this.#token;
    if (!token) return;
    const answer = await this.#ask('PATCH', { token });
    const { status, body } = answer;
    if (token !== this.#token) return; // saved or given back meanwhile: it says nothing about this page any more
    if (status === 200 && this.#left) return this.#renew(); // left meanwhile: what was granted may have been cut
    if (status === 200) this.#confirm(answer);
    else if (status === 410) this.#lose(body.takenAwayBy ? 'taken-away' : 'lapsed', { owner: body.takenAwayBy });
    else if (status === 423) this.#lose(body.mine ? 'taken-by-me' : 'taken', body);
    else if (status === 401) this.#doubt(answer.text ?? 'signed-out');
    else if (answer.own) this.#lose(status === 403 ? 'denied' : 'rejected');
    else this.#doubt();
  }

  /** Gives the lock back; the page is only for reading then. */
  release() {
    return this.#runAlone(() => this.#giveBack(), () => {}); // without an answer the lease ends by itself
  }

  async #giveBack() {
    const token = this.#token;
    this.#drop();
    this.#show('viewing', { refused: true, text: 'viewing' });
    if (!this.#form.isConnected) this.#listening.abort();
    if (token) await this.#ask('DELETE', { token, keepalive: true });
  }

  /** For a page that saves by itself: the save has worked, and has released the lock. */
  saved() {
    this.#drafts.remove();
    this.#drop();
    this.#show('viewing', { refused: this.#options.take === 'load', text: 'viewing' });
  }

  // ---- What an answer means.

  #confirm({ body, sentAt }) {
    if (this.#state === 'lost') return;
    this.#token = body.token ?? this.#token;
    const known = this.#owner;
    this.#owner = body.owner ?? known;
    if (!known) this.#writeDraft(); // what was typed before it was known whose it is
    this.#confirmed = { sentAt, expiresInMs: body.expiresInMs, renewInMs: delay(body.renewInMs, body.expiresInMs / 3) };
    setHidden(this.#form, 'lid', this.#token);
    clearTimeout(this.#timers.expiry);
    if (!(this.#leaseLeft() > 0)) return this.#doubt(); // the answer came too late to be worth anything
    this.#timers.expiry = setTimeout(() => this.#doubt(), delay(this.#leaseLeft(), 0, 0));
    this.#next(this.#confirmed.renewInMs - elapsed(sentAt), () => this.renew());
    this.#show('held', { owner: this.#owner, fence: body.fence });
    this.#offerDraft();
  }

  #leaseLeft() {
    return this.#confirmed ? this.#confirmed.expiresInMs - elapsed(this.#confirmed.sentAt) : 0;
  }

  #doubt(text = 'uncertain') {
    if (!this.#token || this.#submitting) return;
    this.#show('uncertain', { ...this.#shown, text });
    this.#retry(() => this.renew());
  }

  #showOther(seen) {
    this.#fenceAtOpening ??= seen.fence;
    const ended = seen.held === false;
    // Whoever had it when the page was opened may have saved since. Then the page is old: it must be read again first.
    const old = ended || seen.fence !== this.#fenceAtOpening;
    const { owner, since, mine, fence, mayTakeOver } = ended ? { owner: this.#shown.owner } : seen;
    const denied = fence === this.#deniedFence;
    const text = ended ? 'ended' : mine ? 'mine' : denied ? 'not-allowed' : 'held-by-other';
    this.#show('held-by-other', { text, owner, since, mine, fence, old, ended, mayTakeOver: mayTakeOver !== false && !denied });
    if (!ended) this.#next(Math.min(SLOWEST_MS, Math.max(1_000, seen.expiresInMs / 3)), () => document.hidden || this.#look());
  }

  #refuse({ status, text }) {
    this.#show('viewing', { text: text ?? (status === 401 ? 'signed-out' : status === 429 ? 'too-many' : 'refused'), refused: true });
  }

  #lose(text, { owner, since, mine } = {}) {
    this.#writeDraft();
    this.#drop();
    this.#show('lost', { text, owner, since, mine });
  }

  #drop() {
    this.#token = null;
    setHidden(this.#form, 'lid', '');
    Object.values(this.#timers).forEach(clearTimeout);
  }

  #show(state, shown = {}) {
    if (this.#state === 'lost') return;
    const previous = this.#state;
    const told = this.#shown.text;
    this.#state = state;
    this.#shown = { text: state, ...shown };
    const onChange = this.#options.take === 'change' && !shown.refused;
    // The server took the lock for this page, and it is only confirmed: what is typed meanwhile stays, and Save waits.
    const confirming = state === 'acquiring' && this.#token;
    const mayEdit = state === 'held' || state === 'uncertain' || confirming
      || (onChange && (state === 'viewing' || state === 'acquiring'));
    const maySave = !this.#submitting && (state === 'held' || confirming || (onChange && state === 'viewing'));
    this.#panel.show(state, this.#shown, { mayEdit, maySave });
    this.#form.dataset.bitjangState = state;
    const { text: reason, owner, since, mine, fence } = this.#shown;
    if (state === previous && reason === told) return;
    const detail = { state, previous, reason, owner, since, mine, fence };
    this.#form.dispatchEvent(new CustomEvent('bitjang:state', { bubbles: true, detail }));
  }

  // ---- What the browser says.

  #listen() {
    const { signal } = this.#listening;
    const on = (target, type, action) => target.addEventListener(type, action, { signal });
    const mine = (event) => event.target.form === this.#form || this.#form.contains(event.target);
    on(document, 'input', (event) => mine(event) && !this.#panel.contains(event.target) && this.#typed());
    on(document, 'change', (event) => mine(event) && !this.#panel.contains(event.target) && this.#typed());
    on(this.#form, 'submit', (event) => this.#submit(event));
    on(this.#form, 'reset', (event) => this.#state === 'lost' && event.preventDefault()); // the text is kept
    on(document, 'visibilitychange', () => (document.hidden ? this.#writeDraft() : this.#wake()));
    on(document, 'resume', () => this.#wake());
    on(window, 'online', () => this.#wake());
    on(window, 'offline', () => this.#doubt());
    on(window, 'pagehide', (event) => this.#hide(event.persisted));
    on(window, 'pageshow', (event) => event.persisted && this.#return());
  }

  #typed() {
    clearTimeout(this.#timers.draft);
    this.#timers.draft = setTimeout(() => this.#writeDraft(), DRAFT_PAUSE_MS);
    if (this.#state === 'viewing' && this.#options.take === 'change' && !this.#shown.refused) this.#acquire();
  }

  #wake() {
    if (this.#submitting) return;
    if (this.#token) {
      if (this.#state === 'held' && this.#leaseLeft() <= 0) this.#doubt();
      this.renew();
    } else if (this.#state === 'acquiring') {
      this.#acquire();
    } else if (this.#state === 'held-by-other' && !this.#shown.ended) {
      this.#look();
    }
  }

  /** The form was sent, and yet the page is still there, or there again. */
  #return() {
    this.#submitting = false;
    this.#freeAt = null;
    this.#wake();
  }

  #hide(persisted) {
    this.#writeDraft();
    this.#saveAsked = false; // who comes back does not find it sent
    if (!this.#token || this.#submitting) return;
    // What a free button leads to may be this form again, with the same lock id.
    if (!this.#freeAt || elapsed(this.#freeAt) > LONGEST_SAVE_MS) this.#leave();
    if (persisted) this.#show('uncertain', { ...this.#shown, text: 'acquiring' });
    Object.values(this.#timers).forEach(clearTimeout);
  }

  /** The server cuts the lease to seconds: free soon, but a reload still finds it. */
  #leave() {
    const sent = this.#ask('POST', { path: '/leave', token: this.#token, keepalive: true, timeoutMs: 0 });
    const left = sent.catch(() => {}).then(() => {
      // Nobody has waited so long: it may have cut what was confirmed since.
      if (this.#left !== left) Promise.resolve(this.#running).then(() => this.renew());
    });
    this.#left = left;
  }

  async #submit(event) {
    if (event.defaultPrevented) return this.#submitting || this.#sentByScript();
    if (event.submitter?.hasAttribute('data-bitjang-free')) return void (this.#freeAt = stamp());
    const fresh = this.#state === 'held' && !this.#running && this.#leaseLeft() > this.#confirmed.expiresInMs / 3;
    if (fresh && !this.#submitting && !this.#saveAsked) return this.#submitted(event);
    event.preventDefault();
    event.stopImmediatePropagation(); // others hear of it when it is sent, and then the lock is there
    const mayHold = this.#token || (this.#options.take === 'change' && this.#state === 'viewing' && !this.#shown.refused);
    if (!mayHold || this.#submitting || this.#saveAsked) return;
    this.#saveAsked = true; // a second click while this one waits is the same save
    await (this.#token ? this.renew() : this.#acquire());
    const asked = this.#saveAsked;
    this.#saveAsked = false;
    if (asked && this.#state === 'held' && this.#leaseLeft() > 0) this.#form.requestSubmit(event.submitter);
  }

  #submitted(event) {
    this.#submitting = true;
    this.#writeDraft();
    this.#drafts.submitted();
    clearTimeout(this.#timers.next); // a renewal must not cross the save, which ends the lock
    const again = () => (this.#return(), this.#show(this.#state, this.#shown));
    this.#timers.submitting = setTimeout(again, LONGEST_SAVE_MS);
    setTimeout(() => {
      if (event.defaultPrevented) this.#sentByScript();
      this.#show(this.#state, this.#shown); // only now, because a disabled button would not be sent with its form
    });
  }

  /** A script's save may end the lock, too: it has half of what is left of the lease before a renewal can cross it. */
  #sentByScript() {
    this.#submitting = false;
    clearTimeout(this.#timers.submitting);
    if (this.#token) this.#next(this.#leaseLeft() / 2, () => this.renew());
  }

  // ---- Drafts.

  #writeDraft() {
    if (this.#options.draft && this.#owner && this.#state !== 'viewing') this.#drafts.write(this.#owner);
  }

  #offerDraft() {
    if (!this.#options.draft || this.#draftsOffered || !this.#owner) return;
    this.#draftsOffered = true;
    const left = this.#drafts.left(this.#owner);
    this.#panel.offer(left, (draft) => this.#drafts.restore(draft), (draft) => this.#drafts.remove(draft.key));
  }
}

for (const saved of document.querySelectorAll('[data-bitjang-saved]')) forgetSubmitted(saved.dataset.bitjangSaved);
for (const form of document.querySelectorAll('form[data-bitjang-edit-lock]')) editLock(form);
for (const field of document.querySelectorAll('input[data-bitjang-client]')) tabId().then((id) => (field.value = id));
