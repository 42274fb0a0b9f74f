/*
 * Shows the document that belongs to this page. The token stays in this page's memory: it is never part of an address that
 * is asked for, and nothing is stored. Without one the session cookie counts, if there is one.
 */
const address = location.pathname.replace(/\/docs\/?$/, '/openapi')
const form = document.getElementById('credential')
const field = document.getElementById('token')
const status = document.getElementById('status')

// A link may bring a token in its fragment, which no server sees; it leaves the address before anything is asked.
const brought = /^#token=([\w.-]+)$/.exec(location.hash)
if (brought) {
  field.value = brought[1]
  history.replaceState(null, '', location.pathname)
}

/** Of brackets inside of brackets OpenAPI knows nothing, and neither does the viewer: it sends these as JSON texts. */
function asJsonTexts(spec) {
  for (const path of Object.values(spec.paths)) {
    for (const { parameters = [] } of Object.values(path)) {
      for (const parameter of parameters) {
        if (parameter.style !== 'deepObject') continue
        const { schema, example } = parameter
        parameter.content = { 'application/json': { schema, example } }
        for (const name of ['style', 'explode', 'schema', 'example']) delete parameter[name]
      }
    }
  }
}

async function show() {
  const token = field.value.trim()
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` }
  status.textContent = 'Loading …'
  const response = await fetch(address, { headers })
  const spec = await response.json()
  if (!response.ok) {
    status.textContent = `${response.status} ${spec.message}`
    return
  }
  status.textContent = ''
  // The form above is the one place for a credential.
  delete spec.security
  delete spec.components.securitySchemes
  asJsonTexts(spec)
  globalThis.SwaggerUIBundle({
    spec,
    domNode: document.getElementById('reference'),
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    persistAuthorization: false,
    requestInterceptor(request) {
      if (new URL(request.url, location.href).origin === location.origin) Object.assign(request.headers, headers)
      return request
    },
  })
}

function tell() {
  show().catch(() => {
    status.textContent = 'The document could not be loaded.'
  })
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  tell()
})
tell()
