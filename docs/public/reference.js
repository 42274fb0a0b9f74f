/*
 * Shows the document that belongs to this page. The token stays in this page's memory: it is never part of an address,
 * and nothing is stored. Without one the session cookie counts, if there is one.
 */
const address = location.pathname.replace(/\/docs\/?$/, '/openapi')
const form = document.getElementById('credential')
const field = document.getElementById('token')
const status = document.getElementById('status')

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
