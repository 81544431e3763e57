// SPDX-License-Identifier: Apache-2.0
// Live regions: when the server says that something has changed, the same part of the page is fetched again and put in with as
// little change as possible, so that a button keeps its focus, and a click that has begun ends on the same button.

const AGAIN_MS = 2_000;

for (const region of document.querySelectorAll('[data-live]')) {
  let busy = false;
  let again = false;
  let source;

  const refresh = async () => {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      const answer = await fetch(region.dataset.from, { headers: { Accept: 'text/html' }, cache: 'no-store' });
      if (answer.redirected) return location.reload(); // signed out
      if (answer.ok) update(region, await answer.text());
    } catch {
      // without an answer the page stays as it is
    } finally {
      busy = false;
      if (again) refresh();
    }
  };

  const listen = () => {
    source?.close();
    source = new EventSource(region.dataset.live);
    source.addEventListener('changed', refresh);
    source.addEventListener('open', () => region.removeAttribute('data-stale'));
    source.addEventListener('error', () => {
      region.setAttribute('data-stale', '');
      // A browser gives up when the answer is no stream: the shop was started anew, or the session has ended.
      if (source.readyState === EventSource.CLOSED && !document.hidden) setTimeout(() => refresh().then(listen), AGAIN_MS);
    });
  };

  // A browser has six connections for a host: pages that nobody sees don't take any.
  document.addEventListener('visibilitychange', () => (document.hidden ? source.close() : listen()));
  addEventListener('pagehide', () => source.close());
  addEventListener('pageshow', (event) => event.persisted && listen());
  listen();
}

function update(region, html) {
  const fresh = new DOMParser().parseFromString(html, 'text/html').body.firstElementChild;
  const old = region.firstElementChild;
  if (fresh && old) morph(old, fresh);
}

const keyOf = (node) => node.dataset?.lock || node.dataset?.node || node.id || null;

function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    return old.replaceWith(fresh);
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const wanted = [...fresh.childNodes];
  const keys = new Set(wanted.map(keyOf).filter(Boolean));
  for (const child of [...old.childNodes]) if (keyOf(child) && !keys.has(keyOf(child))) child.remove();
  wanted.forEach((node, i) => {
    const there = old.childNodes[i];
    const key = keyOf(node);
    if (!there) old.append(node);
    else if (key && keyOf(there) !== key) old.insertBefore([...old.childNodes].find((each) => keyOf(each) === key) ?? node, there);
    else if (!key && keyOf(there)) old.insertBefore(node, there);
    if (there && old.childNodes[i] !== node) morph(old.childNodes[i], node);
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
}

// Forms that only set something going: what comes of it is seen in a live region, so the page need not be loaded again.
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.matches('form[data-quiet]')) return;
  event.preventDefault();
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)), redirect: 'manual' });
    if (answer.type === 'opaqueredirect') return;
  } catch {
    // as below
  }
  form.submit(); // in the ordinary way, which shows what is wrong
});
