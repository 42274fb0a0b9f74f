/*
 * Approves a device by the code that it shows. The session is in cookies that no script sees; the code is typed, never taken
 * from an address, and nothing is approved but by the button.
 */
const element = (id) => document.getElementById(id)
const forms = ['sign-in', 'ask', 'decide'].map(element)
const [signIn, ask, decide] = forms
const status = element('status')

function show(form, text = '') {
  for (const one of forms) one.hidden = one !== form
  status.textContent = text
  form?.querySelector('input, button')?.focus()
}

function send(method, path, body) {
  return fetch(path, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  })
}

/** Once more with a refreshed session where the old one is over. */
async function call(method, path, body) {
  const response = await send(method, path, body)
  if (response.status !== 401) return response
  const refreshed = await send('POST', '/api/auth/refresh', {})
  return refreshed.ok ? send(method, path, body) : response
}

async function reasonOf(response) {
  const { message } = await response.json().catch(() => ({}))
  return message ?? `The service answered ${response.status}.`
}

async function begin(text) {
  const me = await call('GET', '/api/system/users/me')
  if (me.ok) {
    element('who').textContent = (await me.json()).data.email
    show(ask, text)
    return
  }
  await showProviders()
  show(signIn, text)
}

async function showProviders() {
  const response = await send('GET', '/api/auth/providers')
  const { data } = response.ok ? await response.json() : { data: [] }
  const back = encodeURIComponent('/api/auth/device')
  element('providers').replaceChildren(
    ...data.map(({ name }) => {
      const link = document.createElement('a')
      link.href = `/api/auth/providers/${encodeURIComponent(name)}/login?redirect=${back}`
      link.textContent = `Sign in through ${name}`
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
}

async function login() {
  const credentials = { email: element('email').value, password: element('password').value }
  element('password').value = ''
  const response = await send('POST', '/api/auth/login', { credentials })
  if (response.ok) await begin()
  else show(signIn, await reasonOf(response))
}

async function look() {
  const response = await call('POST', '/api/auth/device/lookup', { userCode: element('code').value })
  if (response.status === 401) return begin('Your session is over.')
  if (!response.ok) return show(ask, await reasonOf(response))
  const { name, userAgent, ip, createdAt } = (await response.json()).data
  element('name').textContent = name ?? 'nothing'
  element('user-agent').textContent = userAgent ?? 'unknown'
  element('ip').textContent = ip ?? 'unknown'
  element('created').textContent = new Date(createdAt).toLocaleString()
  show(decide)
}

async function settle(approve) {
  const response = await call('POST', '/api/auth/device/decision', { userCode: element('code').value, approve })
  element('code').value = ''
  if (!response.ok) return begin(await reasonOf(response))
  show(undefined, approve ? 'The device is signed in. You can close this page.' : 'Declined. Nothing was signed in.')
}

const telling = (run) => (event) => {
  event.preventDefault()
  run().catch(() => {
    status.textContent = 'The service does not answer.'
  })
}

signIn.addEventListener('submit', telling(login))
ask.addEventListener('submit', telling(look))
decide.addEventListener(
  'submit',
  telling(() => settle(true)),
)
element('decline').addEventListener(
  'click',
  telling(() => settle(false)),
)
begin().catch(() => {
  status.textContent = 'The service does not answer.'
})
