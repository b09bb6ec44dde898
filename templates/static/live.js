// The dashboard's script: live fragments, actions without leaving the page, one dialog, keys, relative times. Everything
// that it does is a comfort: links and forms work without it. It knows no page; pages ask for what it does by attributes:
//
//   #id[data-refetch]         drawn anew when the page is fetched again after a gap
//   [data-refetch-every=5]    the page is fetched again every five seconds while somebody looks
//   [data-whole]              shows every node there is: a row that is new fetches the page again
//   a[data-dialog]            its page opens in the dialog; form[data-dialog]: so does the answer to it
//   form[data-action]         sent without leaving the page, the answer's fragments applied; or one button[data-action]
//   form[data-once]           sent as if there were no script, but once however often one presses
//   a[data-part]              what a BMC is asked for when somebody opens it
//   input[data-select-all]    chooses all of its table; [data-chosen-count] says how many nodes are chosen
//   [data-pick=ID]            a press on it chooses the checkbox ID; it has data-picked while that is checked
//   button[hidden][data-copy=ID]  copies the text of ID
//   a[data-key=K]             is pressed by the key K, or for two letters by one after the other
//   [data-shown-x=A,B]        a row in it of whose data-x=B,C none is among these has left the filter, and is greyed
//   template[data-said], [data-title], [data-refetch-if=ID], [data-refetch-unless=ID]  fragments that only speak
//
// All texts come from the page.
const page = document.body.dataset, text = JSON.parse(page.texts)
const $ = id => document.getElementById(id), all = (selector, root = document) => [...root.querySelectorAll(selector)]
const mark = $('live'), said = $('status'), content = $('content')
const ours = { 'X-Requested-With': 'fetch' }, skew = page.now ? Date.parse(page.now) - Date.now() : 0
const fill = (template, value) => template.replace('#', value)
const parse = html => new DOMParser().parseFromString(html, 'text/html')
const signedOut = r => r.status === 401 || r.redirected

// --- fragments: what is the same stays the very element, so that focus, caret, selection, scrolling and open details stay
const busy = new WeakSet()
// key names an element among its brothers. Attributes, because a form's properties may be its fields.
function key(n) {
  const attribute = name => n.getAttribute?.(name) ?? '', name = attribute('name')
  return attribute('id') || (name && `${name}=${/^(radio|checkbox|submit)$/.test(n.type) ? attribute('value') : ''}`)
}

// edited tells of a field that a person is at, or has changed: it is theirs.
function edited(field) {
  if (field === document.activeElement) return true
  if (field.options) {
    const sent = [...field.options].findLastIndex(o => o.defaultSelected)
    return field.selectedIndex !== Math.max(0, sent)
  }
  return field.type === 'checkbox' || field.type === 'radio' ? field.checked !== field.defaultChecked : field.value !== field.defaultValue
}

function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return old
  if (old.nodeName !== fresh.nodeName || key(old) !== key(fresh)) { old.replaceWith(fresh); return fresh }
  if (old.nodeType !== Node.ELEMENT_NODE) { old.data = fresh.data; return old }
  if (busy.has(old) || (old.matches('input, select, textarea') && edited(old))) return old
  const shaded = old.classList.contains('shaded'), stays = name => old.matches('details') && name === 'open'
  for (const a of [...old.attributes]) if (!fresh.hasAttribute(a.name) && !stays(a.name)) old.removeAttribute(a.name)
  for (const a of fresh.attributes) if (old.getAttribute(a.name) !== a.value && !stays(a.name)) old.setAttribute(a.name, a.value)
  if (shaded) old.classList.add('shaded')
  morphChildren(old, fresh)
  return old
}

function morphChildren(old, fresh) {
  const wanted = new Set([...fresh.childNodes].map(key)), kept = new Map()
  for (const n of [...old.childNodes]) {
    if (!key(n)) continue
    if (wanted.has(key(n)) && !kept.has(key(n))) kept.set(key(n), n)
    else n.remove()
  }
  let at = old.firstChild
  for (const want of [...fresh.childNodes]) {
    let have = key(want) ? kept.get(key(want)) : at
    if (!key(want)) while (have && (key(have) || have.nodeName !== want.nodeName)) have = have.nextSibling
    kept.delete(key(want))
    if (!have) { old.insertBefore(want, at); continue }
    if (have === at) at = at.nextSibling
    else if (old.moveBefore) old.moveBefore(have, at)
    else old.insertBefore(have, at)
    morph(have, want)
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next }
}

function swap(old, fresh) {
  const focus = document.activeElement, inside = old.contains(focus), id = focus.id
  const now = morph(old, fresh)
  if (now.dataset.state) now.classList.toggle('left', hasLeft(now))
  enliven(now)
  if (inside && !focus.isConnected) (($(id) ?? now.querySelector('a, button')) ?? content).focus({ preventScroll: true })
}

// hasLeft tells of a row that the filter does not show any more: data-shown-x of its parent lists what data-x may be.
function hasLeft(row) {
  return Object.entries(row.parentElement?.dataset ?? {}).some(([name, values]) => {
    if (!name.startsWith('shown') || !values) return false
    const has = row.dataset[name.slice('shown'.length).toLowerCase() || 'state']?.split(',') ?? []
    return !values.split(',').some(value => has.includes(value))
  })
}

function apply(html) {
  const box = document.createElement('template')
  box.innerHTML = html
  for (const part of box.content.querySelectorAll('template')) {
    const { said, title, refetchIf, refetchUnless } = part.dataset
    if (said) say(said)
    if (title && page.events.includes('view=list')) document.title = title
    if ((refetchIf && $(refetchIf)) || (refetchUnless && !$(refetchUnless))) refetchSoon()
    const fresh = part.content.firstElementChild
    if (!fresh) continue
    const old = $(fresh.id), [, kind, uuid] = /^(row|u)-(.+)/.exec(fresh.id) ?? []
    if (old) swap(old, fresh)
    else if (kind === 'row' && document.querySelector('[data-whole]')) refetchSoon()
    if (kind) changed.add(uuid)
  }
  countChosen()
}

// enliven is for what has just come onto the page.
function enliven(root) {
  ticks(root)
  if (navigator.clipboard) for (const b of all('button[data-copy]', root)) b.hidden = false
}

// --- the status line is the only thing read aloud: at most every five seconds
const changed = new Set()
const say = words => { said.textContent = words; changed.clear() }
setInterval(() => {
  if (changed.size) say(changed.size === 1 ? text.oneChanged : fill(text.manyChanged, changed.size))
}, 5000)

// --- the event stream: one per visible tab. The server beats on a silent one, so that a cable that was pulled is noticed
let stream, retry, tried, after = page.after, pause = 500, beat = 5000
let heard = Date.now(), lostAt // when the server was heard last, and that time once the connection is lost
let out = false // nobody is signed in any more
let behind = 0 // how often the page was told that it misses something since it was fetched

const clock = at => new Date(at + skew).toISOString().slice(11, 19) + ' UTC'
function show(state, words) {
  if (mark && mark.dataset.state !== state) mark.dataset.state = state
  if (mark && mark.textContent !== words) mark.textContent = words
}
function lost() {
  if (lostAt || !page.events) return
  lostAt = heard
  show('reconnecting', fill(text.reconnecting, clock(lostAt)))
  say(fill(text.lost, clock(lostAt)))
}
function found() {
  if (behind) return
  if (lostAt) say(text.found)
  lostAt = undefined
  content.classList.remove('stale')
  show('live', text.live)
}
function leave() {
  out = true
  close()
  show('off', text.off)
  say(text.signedOut)
}

function open() {
  close()
  if (!page.events || document.hidden) return
  tried = Date.now()
  const mine = stream = new EventSource(`${page.events}&after=${encodeURIComponent(after)}`)
  const on = (name, act) => mine.addEventListener(name, e => {
    heard = Date.now()
    if (e.lastEventId) after = e.lastEventId
    act(e)
  })
  on('open', () => { pause = 500; found() })
  on('beat', e => { beat = Number(e.data) })
  on('fragment', e => held ? held.push(e.data) : apply(e.data))
  on('resync', () => { behind++; refetchSoon() })
  on('renew', open)
  mine.addEventListener('error', () => {
    const refused = mine.readyState === EventSource.CLOSED
    close()
    if (!refused) lost()
    retry = setTimeout(refused ? askWhy : open, pause * (0.75 + Math.random() / 2))
    pause = Math.min(2 * pause, 10000)
  })
}
function close() { clearTimeout(retry); stream?.close(); stream = undefined }

// askWhy is for a stream that was refused: nobody is signed in any more, or too many are open.
async function askWhy() {
  let r
  try { r = await fetch(page.events, { method: 'HEAD' }) } catch { lost() }
  if (r && signedOut(r)) return leave()
  if (r?.status !== 503) return open()
  lostAt = undefined
  if (!await refetch()) return
  retry = setTimeout(open, 20000)
  if (lostAt) return // the page could not be fetched either
  content.classList.remove('stale')
  show('full', text.full)
  say(text.full)
}

document.addEventListener('visibilitychange', () => document.hidden ? close() : open())
addEventListener('pagehide', close)
addEventListener('pageshow', e => {
  if (!e.persisted) return
  for (const form of all('form[data-once]')) { busy.delete(form); form.ariaBusy = 'false' }
  open()
})
addEventListener('offline', lost)
addEventListener('online', open)

// refetch draws the page again as it is now; false when we may not look any more. What the stream tells meanwhile is newer
// than the page that is on its way, and is held until it has come.
let soon, held, fetched = Date.now()
const refetchIn = wait => { soon ??= setTimeout(() => { soon = undefined; refetch() }, wait) }
const refetchSoon = () => refetchIn(200 + Math.random() * 300)
async function refetch() {
  if (held) { refetchSoon(); return true }
  held = []
  fetched = Date.now()
  const gaps = behind
  let done = false
  try {
    const r = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (signedOut(r)) { held = undefined; leave(); return false }
    if (r.status === 404) { location.reload(); return false }
    if (r.ok) {
      redraw(parse(await r.text()))
      done = true
    }
  } catch { /* no network: tried again below */ }
  const news = held
  held = undefined
  news.forEach(apply)
  if (done) {
    behind -= gaps
    if (stream?.readyState === EventSource.OPEN) found()
  } else {
    lost()
    refetchIn(3000)
  }
  return true
}
function redraw(fresh) {
  for (const old of all('[data-refetch]')) {
    const now = fresh.getElementById(old.id)
    if (now) swap(old, document.adoptNode(now))
  }
  document.title = fresh.title
  countChosen()
}

// --- the dialog: opened by links and forms that ask back, and for what went wrong; Escape closes it, a click outside not
const dialog = document.body.appendChild(document.createElement('dialog'))
dialog.setAttribute('aria-labelledby', 'question')
let opener, asked = false
function ask(html, by) {
  opener = by?.id
  dialog.innerHTML = html
  enliven(dialog)
  if (!dialog.open) dialog.showModal()
}
// The browser gives the focus back to the element that had it; that may be gone, or be drawn anew.
dialog.addEventListener('close', () => {
  dialog.replaceChildren()
  if (document.activeElement === document.body) ($(opener) ?? content).focus({ preventScroll: true })
})

// askAt shows the answer of an address in the dialog; native is what happens where that cannot be.
async function askAt(address, how, by, native) {
  if (asked || dialog.open) return
  asked = true
  try {
    const r = await fetch(address, { ...how, headers: ours })
    if (signedOut(r)) native()
    else ask(await r.text(), by)
  } catch { native() } finally { asked = false }
}

document.addEventListener('click', e => {
  if (e.button || e.ctrlKey || e.metaKey || e.shiftKey) return
  const on = selector => e.target.closest(selector)
  let found
  if ((found = on('dialog [data-close]'))) dialog.close()
  else if ((found = on('a[data-part]'))) openPart(found)
  else if ((found = on('a[data-dialog]'))) askAt(found.href, {}, found, () => location.assign(found.href))
  else if ((found = on('button[data-copy]'))) copy($(found.dataset.copy))
  else if (!on('a, button, input, label') && (found = on('[data-pick]'))) $(found.dataset.pick)?.click()
  if (found) e.preventDefault()
})

async function copy(from) {
  try {
    await navigator.clipboard.writeText(from.textContent)
    say(text.copied)
  } catch { say(text.notCopied) }
}

// --- what a BMC tells is fetched when somebody opens it; of several presses the last counts
let asking
async function openPart(link) {
  asking?.abort()
  const mine = asking = new AbortController(), panel = $('panel')
  panel.ariaBusy = 'true'
  if (!panel.contains(link)) {
    for (const tab of all('.parts a')) tab.ariaCurrent = tab === link ? 'page' : null
    panel.replaceChildren(paragraph('asking', text.asking))
  }
  say(text.asking)
  try {
    const r = await fetch(link.href, { headers: ours, signal: mine.signal })
    const html = await r.text()
    if (mine.signal.aborted) return
    if (signedOut(r)) { location.assign(link.href); return }
    apply(html)
    // Whatever is no part says why: the node is gone, or something broke.
    if (panel.ariaBusy === 'true' && panel.isConnected) untold(panel, link, alertOf(html)?.textContent ?? text.notAsked)
    else say($('part').querySelector('[role=alert]') ? '' : text.answered)
  } catch {
    if (!mine.signal.aborted) untold(panel, link, text.notAsked)
  }
}
const alertOf = html => parse(html).querySelector('[role=alert]')
function untold(panel, link, words) {
  const again = Object.assign(document.createElement('a'), { id: 'part-again', className: 'button', href: link.href, textContent: text.tryAgain })
  again.dataset.part = ''
  const why = paragraph('callout failed', words)
  why.role = 'alert'
  panel.ariaBusy = 'false'
  panel.replaceChildren(why, again)
}
const paragraph = (className, textContent) => Object.assign(document.createElement('p'), { className, textContent })

// --- actions: one request however often one presses, and no result before the server has answered
document.addEventListener('submit', e => {
  const form = e.target, by = e.submitter
  if (form.matches('[data-action]') || by?.matches('[data-action]')) {
    e.preventDefault()
    if (!busy.has(form)) act(form, by)
  } else if (form.matches('[data-dialog]')) {
    e.preventDefault()
    askAt(addressOf(form, by), { method: 'POST', body: fields(form, by) }, by, () => native(form, by))
  } else if (form.matches('[data-once]')) {
    if (busy.has(form)) e.preventDefault()
    busy.add(form)
    form.ariaBusy = 'true'
  }
})
const addressOf = (form, by) => by?.getAttribute('formaction') ?? form.getAttribute('action')
const fields = (form, by) => new URLSearchParams(new FormData(form, by))
// native sends a form as if there were no script: its own submit() leaves out the button.
function native(form, by) {
  if (by?.name) form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: by.name, value: by.value }))
  HTMLFormElement.prototype.submit.call(form)
}

async function act(form, by) {
  const button = by ?? form.querySelector('button'), inDialog = dialog.contains(form)
  const tell = words => { const box = inDialog && form.querySelector('[data-outcome]'); if (box) box.textContent = words; else say(words) }
  const body = fields(form, by)
  const free = () => { busy.delete(form); form.ariaBusy = 'false'; button.disabled = false }
  busy.add(form)
  form.ariaBusy = 'true'
  button.disabled = true
  try {
    const r = await fetch(addressOf(form, by), { method: 'POST', body, headers: ours })
    const html = await r.text()
    free()
    if (signedOut(r)) tell(text.signedOut)
    else if (r.ok || /<template/.test(html)) {
      if (inDialog && r.ok) dialog.close()
      apply(html)
      // A button that is disabled has lost the focus; what took its place gets it back.
      if (!inDialog && document.activeElement === document.body) $(button.id)?.focus({ preventScroll: true })
    } else if (inDialog) form.querySelector('[data-outcome]').innerHTML = alertOf(html)?.innerHTML ?? ''
    else ask(html, button)
  } catch { tell(text.noAnswer) } finally { free() }
}

// --- choosing nodes: the checkboxes are the truth, counts and pictures follow them
function countChosen() {
  const boxes = all('input[name=node][form=chosen]'), n = boxes.filter(b => b.checked).length
  for (const count of all('[data-chosen-count]')) {
    const whole = count.closest('form')?.querySelector('input[name=all]:checked'), { one, other } = count.dataset
    count.dataset.none ??= count.textContent
    count.textContent = whole ? whole.closest('label').textContent.trim() : n > 1 ? fill(other, n) : n ? one : count.dataset.none
  }
  for (const head of all('input[data-select-all]')) {
    const mine = chosable(head), some = mine.filter(b => b.checked).length
    head.checked = some > 0 && some === mine.length
    head.indeterminate = some > 0 && !head.checked
  }
  for (const picture of all('[data-pick]')) picture.toggleAttribute('data-picked', !!$(picture.dataset.pick)?.checked)
}
const chosable = head => all('tr:not(.left, .gone) input[name=node][form=chosen]', head.closest('table'))
document.addEventListener('change', e => {
  if (e.target.matches('input[data-select-all]')) for (const box of chosable(e.target)) box.checked = e.target.checked
  if (e.target.matches('input[type=checkbox]')) countChosen()
})

// --- keys: outside of fields, never with a modifier, and only while the person has not switched them off
let leading = 0
const rows = () => all('#content tr[id^="row-"]:not(.gone)')
function go(step) {
  const list = rows(), at = list.findIndex(r => r.contains(document.activeElement))
  list[at < 0 ? (step > 0 ? 0 : list.length - 1) : at + step]?.querySelector('th a, a')?.focus()
}
const keys = {
  '/': () => {
    const field = document.querySelector('input[type=search]')
    if (field) { field.focus(); field.select() } else location.assign('/ui#search')
  },
  j: () => go(1), k: () => go(-1),
  ArrowDown: row => row && go(1), ArrowUp: row => row && go(-1),
  x: row => row?.querySelector('input[type=checkbox]')?.click(),
  a: row => (row ?? (rows().length ? undefined : content))?.querySelector('a[data-dialog][id^="abort-"]')?.click(),
  g: () => { leading = Date.now() },
}
document.addEventListener('keydown', e => {
  if (page.keys === 'off' || e.ctrlKey || e.altKey || e.metaKey || e.isComposing || dialog.open) return
  if (e.target.closest('input:not([type=checkbox]), select, textarea, [contenteditable]')) return
  const led = Date.now() - leading < 2000, link = document.querySelector(`a[data-key="${CSS.escape(led ? 'g' + e.key : e.key)}"]`)
  leading = 0
  const row = e.target.closest('tr[id^="row-"]'), arrow = e.key.startsWith('Arrow')
  if (link) link.click()
  else if (!led && Object.hasOwn(keys, e.key)) keys[e.key](row)
  else return
  if (!arrow || row) e.preventDefault()
})
if (location.hash === '#search') keys['/']()

// --- relative times, in the words of the server
function words(s) {
  const m = Math.floor(s / 60), h = Math.floor(m / 60), pad = n => String(n).padStart(2, '0')
  if (s < 60) return `${s} s`
  if (m < 60) return `${m} m ${pad(s % 60)} s`
  return h < 24 ? `${h} h ${pad(m % 60)} m` : `${Math.floor(h / 24)} d ${h % 24} h`
}
function ticks(root) {
  const now = Date.now() + skew
  for (const t of all('time[data-rel]', root)) {
    const age = Math.round((now - Date.parse(t.dateTime)) / 1000), kind = t.dataset.rel
    const fresh = fill(text[kind] ?? '#', words(Math.max(0, kind === 'in' ? -age : age)))
    if (t.textContent !== fresh) t.textContent = fresh
  }
}
setInterval(() => {
  if (document.hidden) return
  ticks(document)
  if (stream && Date.now() - Math.max(heard, tried) > 2.5 * beat + 500) { lost(); open() }
  const every = document.querySelector('[data-refetch-every]')?.dataset.refetchEvery
  if (every && !held && !out && Date.now() - fetched >= every * 1000) refetch()
  if (lostAt && Date.now() - lostAt > 30000) content.classList.add('stale')
}, 1000)

const here = new URL(location)
if (here.searchParams.has('done')) { here.searchParams.delete('done'); history.replaceState(null, '', here) }
enliven(document)
countChosen()
open()
