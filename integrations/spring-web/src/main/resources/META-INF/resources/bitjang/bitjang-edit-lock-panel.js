// SPDX-License-Identifier: Apache-2.0
// What a person sees of an edit lock: the status line with its buttons, which fields may be edited, whether Save is on.

const TEXT_FIELDS = new Set(
  'text search url tel email password date month week time datetime-local number textarea'.split(' '));
const RELOADING = new Set(['signed-out', 'too-many']);
const UNTOUCHED = new Set(['hidden', 'button', 'reset', 'submit', 'image', 'fieldset', 'output', 'object']);

export class Panel {
  #form;
  #on;
  #root;
  #text;
  #actions;
  #draft;
  #drawn;

  /** `on`: `{ status, mayTakeOver, message(key, detail)?, takeOver(reason), reload() }`. */
  constructor(form, on) {
    this.#form = form;
    this.#on = { ...on, message: on.message ?? ((key, detail) => textOf(form, key, detail)) };
    this.#root = (on.status instanceof Element ? on.status : on.status && document.querySelector(on.status))
      || form.querySelector('[data-bitjang-status]')
      || form.insertAdjacentElement('afterbegin', element('div'));
    this.#root.classList.add('bitjang');
    // What is read aloud has to be there before its text; so it is kept if the page brings it.
    this.#text = this.#root.querySelector('[role=status]') ?? element('p', { role: 'status' });
    this.#actions = element('p', { className: 'bitjang-actions', hidden: true });
    this.#draft = element('p', { className: 'bitjang-draft', role: 'group', hidden: true });
    this.#root.replaceChildren(this.#text, this.#actions, this.#draft);
  }

  contains(node) { return this.#root.contains(node); }

  show(state, shown, { mayEdit, maySave }) {
    this.#freeze(!mayEdit);
    this.#setSave(maySave);
    if (!mayEdit) this.withdraw();
    const drawn = JSON.stringify([state, shown]);
    if (drawn === this.#drawn) return; // what is drawn again is read aloud again, and loses the focus
    this.#drawn = drawn;
    this.#root.dataset.state = state;
    this.#text.setAttribute('aria-live', state === 'lost' ? 'assertive' : 'polite');
    this.#text.textContent = this.#on.message(shown.text, shown);
    this.#actions.replaceChildren(...this.#actionsFor(state, shown));
    this.#actions.hidden = !this.#actions.hasChildNodes();
  }

  #actionsFor(state, { old, mine, refused, text, mayTakeOver }) {
    const reloads = state === 'lost' || old || text === 'signed-in-anew' || (refused && RELOADING.has(text));
    if (reloads) return [this.#button('reload', this.#on.reload)];
    if (state !== 'held-by-other') return [];
    if (mine) return [this.#button('take-over-mine', () => this.#on.takeOver(this.#on.message('take-over-mine')))];
    return this.#on.mayTakeOver && mayTakeOver ? this.#takeOver() : [];
  }

  /** Not without a reason, and that is said. */
  #takeOver() {
    const reason = element('input', { type: 'text', maxLength: 200, autocomplete: 'off', required: true });
    reason.setAttribute('form', ''); // of no form: the page's own is not to ask for it, nor to send it
    const label = element('label');
    label.append(this.#on.message('reason'), ' ', reason);
    const missing = element('span', { role: 'alert', className: 'bitjang-missing' });
    const takeOver = () => {
      const given = reason.value.trim();
      missing.textContent = given ? '' : this.#on.message('reason-missing');
      reason.setAttribute('aria-invalid', String(!given));
      if (given) this.#on.takeOver(given);
      else reason.focus();
    };
    reason.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault(); // it would send the form
      takeOver();
    });
    return [label, this.#button('take-over', takeOver), missing];
  }

  #button(key, action) {
    const button = element('button', { type: 'button', textContent: this.#on.message(key) });
    button.dataset.bitjangAction = key;
    button.addEventListener('click', () => action());
    return button;
  }

  /** Offers drafts, one after the other. Nothing is put into a field unless the person says so. */
  offer([draft, ...others], restore, forget) {
    if (!draft) return this.withdraw();
    const decide = (action) => () => {
      action(draft);
      forget(draft);
      this.offer(others, restore, forget);
    };
    const text = element('span', { textContent: this.#on.message('draft', { owner: draft.owner, since: draft.at }) });
    this.#draft.replaceChildren(text, this.#button('restore', decide(restore)), this.#button('discard', decide(() => {})));
    this.#draft.hidden = false;
  }

  withdraw() {
    this.#draft.hidden = true;
    this.#draft.replaceChildren();
  }

  /** Text stays selectable: it becomes read-only, not disabled. What can't be read-only has no text, and is disabled. */
  #freeze(on) {
    for (const field of this.#form.elements) {
      if (UNTOUCHED.has(field.type) || this.contains(field)) continue;
      mark(field, 'bitjangFrozen', TEXT_FIELDS.has(field.type) ? 'readOnly' : 'disabled', on);
    }
    const editors = '[contenteditable=""], [contenteditable=true], [data-bitjang-frozen=contentEditable]';
    for (const editor of this.#form.querySelectorAll(editors)) {
      editor.contentEditable = !on;
      if (on) editor.dataset.bitjangFrozen = 'contentEditable';
    }
  }

  #setSave(on) {
    for (const button of this.#form.elements) {
      const saves = (button.type === 'submit' || button.type === 'image') && !button.hasAttribute('data-bitjang-free');
      if (saves) mark(button, 'bitjangOff', 'disabled', !on);
    }
  }
}

/** Sets a property, and takes it back only from what was set here: what the page itself has disabled stays so. */
function mark(field, name, property, on) {
  if (on && !field[property]) {
    field[property] = true;
    field.dataset[name] = property;
  } else if (!on && field.dataset[name]) {
    field[property] = false;
    delete field.dataset[name];
  }
}

function element(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}

// ---- Texts. {owner} and {since} are filled in. A page may replace each one.

const TEXTS = {
  en: {
    viewing: '',
    acquiring: 'Asking for the edit lock …',
    held: 'You are editing. Others can read but not change this.',
    uncertain: 'No contact with the server. Keep typing, your text is kept; saving is off until the lock is confirmed.',
    'held-by-other': '{owner} is editing this, since {since}.',
    mine: 'You are editing this in another tab, since {since}.',
    ended: 'It is no longer being edited by {owner}. Reload to edit the newest version.',
    lapsed: 'Your edit lock has ended. Saving is off; your text is kept, and can be copied.',
    'taken-away': 'Your edit lock was taken away by {owner}. Saving is off; your text is kept, and can be copied.',
    taken: '{owner} has taken over, at {since}. Saving is off; your text is kept, and can be copied.',
    'taken-by-me': 'You went on editing in another tab. Saving is off here; your text is kept, and can be copied.',
    stale: 'Someone has saved since you opened this. Saving is off; your text is kept, and can be copied.',
    denied: 'You may no longer edit this. Saving is off; your text is kept, and can be copied.',
    rejected: 'The server does not accept your edit lock. Saving is off; your text is kept, and can be copied.',
    refused: 'You may read this, but not edit it.',
    'signed-out': 'You are signed out. Your text is kept; sign in again to save it.',
    'signed-in-anew': 'You have signed in again since this page was opened. Your text is kept; reload to go on.',
    'too-many': 'You are editing too many things at once. Close another one, then reload.',
    'not-allowed': 'You may not take over. {owner} is editing this, since {since}.',
    draft: 'You have unsaved text here, from {since}.',
    restore: 'Restore',
    discard: 'Discard',
    reload: 'Reload',
    'take-over': 'Take over',
    'take-over-mine': 'Edit here instead',
    reason: 'Reason',
    'reason-missing': 'Please give a reason.',
    someone: 'Someone',
  },
  ko: {
    viewing: '',
    acquiring: '편집 잠금을 요청하는 중입니다 …',
    held: '편집 중입니다. 다른 사람은 읽을 수만 있습니다.',
    uncertain: '서버와 연결되지 않습니다. 입력한 내용은 보관되며, 잠금이 확인될 때까지 저장할 수 없습니다.',
    'held-by-other': '{owner} 님이 {since}부터 편집하고 있습니다.',
    mine: '다른 탭에서 {since}부터 편집하고 있습니다.',
    ended: '{owner} 님의 편집이 끝났습니다. 새로 고치면 최신 내용을 편집할 수 있습니다.',
    lapsed: '편집 잠금이 끝났습니다. 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    'taken-away': '편집 잠금이 회수되었습니다({owner}). 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    taken: '{owner} 님이 {since}에 편집을 넘겨받았습니다. 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    'taken-by-me': '다른 탭에서 편집을 이어 갔습니다. 여기서는 저장할 수 없지만 입력한 내용은 복사할 수 있습니다.',
    stale: '화면을 연 뒤에 다른 사람이 저장했습니다. 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    denied: '이제 편집할 권한이 없습니다. 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    rejected: '서버가 편집 잠금을 받아들이지 않습니다. 저장할 수 없지만 입력한 내용은 그대로 있으며 복사할 수 있습니다.',
    refused: '읽을 수는 있지만 편집할 수 없습니다.',
    'signed-out': '로그아웃되었습니다. 입력한 내용은 보관됩니다. 다시 로그인한 뒤 저장하세요.',
    'signed-in-anew': '이 화면을 연 뒤에 다시 로그인했습니다. 입력한 내용은 보관됩니다. 새로 고친 뒤 계속하세요.',
    'too-many': '동시에 편집하는 항목이 너무 많습니다. 다른 편집을 끝낸 뒤 새로 고치세요.',
    'not-allowed': '편집을 넘겨받을 권한이 없습니다. {owner} 님이 {since}부터 편집하고 있습니다.',
    draft: '{since}에 저장하지 않은 내용이 남아 있습니다.',
    restore: '되살리기',
    discard: '버리기',
    reload: '새로 고침',
    'take-over': '넘겨받기',
    'take-over-mine': '여기서 편집하기',
    reason: '사유',
    'reason-missing': '사유를 입력하세요.',
    someone: '다른 사람',
  },
};

/** The text for a key: from the form's attribute `data-bitjang-text-<key>`, else in the language of the page, else English. */
function textOf(form, key, { owner, since } = {}) {
  const language = (form.closest('[lang]')?.lang || navigator.language || 'en').replace('_', '-');
  const texts = TEXTS[language.slice(0, 2)] ?? TEXTS.en;
  const text = form.getAttribute(`data-bitjang-text-${key}`) ?? texts[key];
  const values = { '{owner}': owner || texts.someone, '{since}': since ? clockTime(since, language) : '?' };
  return text.replace(/\{owner\}|\{since\}/g, (name) => values[name]);
}

function clockTime(since, language) {
  const time = new Date(since);
  const today = time.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(language, { timeStyle: 'short', ...(today ? {} : { dateStyle: 'medium' }) }).format(time);
}
