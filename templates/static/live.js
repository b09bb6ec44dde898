// The dashboard's script: live fragments, actions without leaving the page, one dialog, relative times. Everything that
// it does is a comfort: links and forms work without it. All texts come from the page.
const page = document.body.dataset, mark = document.getElementById('live'), said = document.getElementById('status')
const $ = id => document.getElementById(id), ours = { 'X-Requested-With': 'fetch' }
const skew = page.now ? Date.parse(page.now) - Date.now() : 0

// --- fragments: each <template> holds one element that replaces the one with its id; focus and open details are kept
function swap(old, fresh) {
  const focus = document.activeElement, id = old.contains(focus) && focus.id
  for (const d of old.querySelectorAll('details[open][id]')) fresh.querySelector('#' + CSS.escape(d.id))?.setAttribute('open', '')
  old.replaceWith(fresh)
  const shown = fresh.parentElement?.dataset.shown
  if (shown && fresh.dataset.state) fresh.classList.toggle('left', !shown.split(',').includes(fresh.dataset.state))
  ticks(fresh)
  if (id) ($(id) ?? fresh.querySelector('a, button'))?.focus({ preventScroll: true })
}

function apply(html) {
  const box = document.createElement('template')
  box.innerHTML = html
  for (const part of box.content.querySelectorAll('template')) {
    if (part.dataset.said) say(part.dataset.said)
    if (part.dataset.title && page.events.includes('list')) document.title = part.dataset.title
    const fresh = part.content.firstElementChild
    if (!fresh) continue
    const old = $(fresh.id)
    if (old) swap(old, fresh)
    else if (fresh.id.startsWith('row-') && document.querySelector('[data-whole]')) refetchSoon()
    if (fresh.id.startsWith('row-')) changed.add(fresh.id)
  }
}

// --- the status line is the only thing read aloud: at most every five seconds
const changed = new Set()
const say = text => { said.textContent = text; changed.clear() }
setInterval(() => {
  if (changed.size) say(changed.size === 1 ? page.oneChanged : page.manyChanged.replace('#', changed.size))
}, 5000)

// --- the event stream: one per visible tab; the browser resumes after short gaps, we fetch the page after long ones
let stream, after = page.after, waiting, brokenSince
function show(state) {
  if (!mark) return
  if (state !== 'reconnecting') brokenSince = undefined
  else brokenSince ??= Date.now()
  mark.dataset.state = state
  mark.textContent = page[state]
  if (state === 'live') $('content').classList.remove('stale')
}

function open() {
  close()
  if (!page.events || document.hidden) return
  stream = new EventSource(`${page.events}&after=${encodeURIComponent(after)}`)
  const note = e => { if (e.lastEventId) after = e.lastEventId }
  stream.addEventListener('open', () => show('live'))
  stream.addEventListener('fragment', e => { note(e); apply(e.data) })
  stream.addEventListener('resync', e => { note(e); refetchSoon() })
  stream.addEventListener('error', () => {
    show('reconnecting')
    if (stream.readyState === EventSource.CLOSED) waiting = setTimeout(async () => { if (await refetch()) open() }, 5000)
  })
}
function close() { clearTimeout(waiting); stream?.close(); stream = undefined }
document.addEventListener('visibilitychange', () => document.hidden ? close() : open())
addEventListener('pagehide', close)
addEventListener('pageshow', e => { if (e.persisted) open() })

// refetch draws the page again as it is now; false when we may not look any more.
let soon
const refetchSoon = () => { clearTimeout(soon); soon = setTimeout(refetch, 200 + Math.random() * 300) }
async function refetch() {
  try {
    const r = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (r.status === 401 || r.redirected) { close(); show('off'); say(page.signedOut); return false }
    if (!r.ok) return true
    const fresh = new DOMParser().parseFromString(await r.text(), 'text/html')
    for (const old of document.querySelectorAll('[data-refetch]')) {
      const el = fresh.getElementById(old.id)
      if (el) swap(old, document.adoptNode(el))
    }
    document.title = fresh.title
  } catch { /* no network: the stream's own retry goes on */ }
  return true
}

// --- the dialog: opened by links that ask back, and for what went wrong; Escape closes it, a click outside does not
const dialog = document.body.appendChild(document.createElement('dialog'))
dialog.setAttribute('aria-labelledby', 'question')
let opener
function ask(html, by) {
  opener = by.id
  dialog.innerHTML = html
  ticks(dialog)
  if (!dialog.open) dialog.showModal()
}
dialog.addEventListener('close', () => { dialog.replaceChildren(); ($(opener) ?? $('content')).focus({ preventScroll: true }) })

let fetching = false
document.addEventListener('click', async e => {
  if (e.button || e.ctrlKey || e.metaKey || e.shiftKey) return
  if (e.target.closest('dialog [data-close]')) { e.preventDefault(); dialog.close(); return }
  const part = e.target.closest('a[data-part]')
  if (part) { e.preventDefault(); openPart(part); return }
  const link = e.target.closest('a[data-dialog]')
  if (!link) return
  e.preventDefault()
  if (fetching || dialog.open) return
  fetching = true
  try {
    const r = await fetch(link.href, { headers: ours })
    if (r.status === 401 || r.redirected) location.assign(link.href)
    else ask(await r.text(), link)
  } catch { location.assign(link.href) } finally { fetching = false }
})

// --- what a BMC tells is fetched when somebody opens it; of several presses the last counts
let asking
async function openPart(link) {
  asking?.abort()
  const mine = asking = new AbortController(), panel = $('panel')
  panel.ariaBusy = 'true'
  if (!panel.contains(link)) {
    for (const tab of document.querySelectorAll('.parts a')) tab.ariaCurrent = tab === link ? 'page' : null
    panel.replaceChildren(paragraph('asking', page.asking))
  }
  say(page.asking)
  try {
    const r = await fetch(link.href, { headers: ours, signal: mine.signal })
    const html = await r.text()
    if (mine.signal.aborted) return
    if (r.status === 401 || r.redirected) { location.assign(link.href); return }
    apply(html)
    // Whatever is no part says why: the node is gone, or something broke.
    if (panel.isConnected) untold(panel, link, new DOMParser().parseFromString(html, 'text/html').querySelector('[role=alert]')?.textContent ?? page.notAsked)
    else if ($('part').querySelector('[role=alert]')) say('')
    else say(page.answered)
  } catch {
    if (!mine.signal.aborted) untold(panel, link, page.notAsked)
  }
}
function untold(panel, link, text) {
  const again = document.createElement('a')
  Object.assign(again, { id: 'part-again', className: 'button', href: link.href, textContent: page.tryAgain })
  again.dataset.part = ''
  const why = paragraph('callout failed', text)
  why.role = 'alert'
  panel.ariaBusy = 'false'
  panel.replaceChildren(why, again)
}
function paragraph(className, text) {
  return Object.assign(document.createElement('p'), { className, textContent: text })
}

// --- actions: one request however often one clicks, and no result before the server has answered
document.addEventListener('submit', async e => {
  const form = e.target.closest('form[data-action]')
  if (!form) return
  e.preventDefault()
  if (form.ariaBusy === 'true') return
  const button = form.querySelector('button'), inDialog = dialog.contains(form)
  const fields = new URLSearchParams(new FormData(form))
  form.ariaBusy = 'true'
  button.disabled = true
  const outcome = html => inDialog ? form.querySelector('[data-outcome]').innerHTML = html : ask(html, button)
  try {
    const r = await fetch(form.action, { method: 'POST', body: fields, headers: ours })
    const html = await r.text()
    if (r.status === 401 || r.redirected) { say(page.signedOut); if (inDialog) plain(form, page.signedOut) }
    else if (r.ok) {
      if (inDialog) dialog.close()
      apply(html)
      // A button that is disabled has lost the focus; what took its place gets it back.
      if (!inDialog && document.activeElement === document.body) $(button.id)?.focus({ preventScroll: true })
    }
    else outcome(inDialog ? new DOMParser().parseFromString(html, 'text/html').querySelector('[role=alert]')?.innerHTML ?? '' : html)
  } catch {
    if (inDialog) plain(form, page.noAnswer); else say(page.noAnswer)
  } finally { form.ariaBusy = 'false'; button.disabled = false }
})
const plain = (form, text) => { form.querySelector('[data-outcome]').textContent = text }

// --- relative times, in the words of the server
function words(s) {
  const m = Math.floor(s / 60), h = Math.floor(m / 60), pad = n => String(n).padStart(2, '0')
  if (s < 60) return `${s} s`
  if (m < 60) return `${m} m ${pad(s % 60)} s`
  return h < 24 ? `${h} h ${pad(m % 60)} m` : `${Math.floor(h / 24)} d ${h % 24} h`
}
function ticks(root) {
  const now = Date.now() + skew
  for (const t of root.querySelectorAll('time[data-rel]')) {
    const age = Math.round((now - Date.parse(t.dateTime)) / 1000), kind = t.dataset.rel
    const text = kind === 'in' ? `in ${words(Math.max(0, -age))}` : words(Math.max(0, age)) + (kind === 'ago' ? ' ago' : '')
    if (t.textContent !== text) t.textContent = text
  }
}
if (location.search.includes('done=')) history.replaceState(null, '', location.pathname)
setInterval(() => {
  if (document.hidden) return
  ticks(document)
  if (brokenSince && Date.now() - brokenSince > 30000) {
    $('content').classList.add('stale')
    mark.textContent = `${page.reconnecting} (since ${new Date(brokenSince).toLocaleTimeString()})`
  }
}, 1000)
open()
