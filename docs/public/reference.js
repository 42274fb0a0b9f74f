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

// The viewer has dark colours of its own.
const isDark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', isDark.matches)
isDark.addEventListener('change', paint)
paint()

/**
 * Makes of the parameters what the viewer may send as it opens: it fills in every example, and of brackets inside of brackets
 * OpenAPI knows nothing, so that these are JSON texts. What changes which items are written is for a person to type.
 */
function prepareParameter(parameter) {
  if (parameter.in === 'header') delete parameter.example
  if (parameter.style !== 'deepObject') return
  const { schema, example } = parameter
  for (const name of ['style', 'explode', 'schema', 'example']) delete parameter[name]
  if (example === undefined) parameter.schema = { type: 'string', description: 'A JSON text' }
  else parameter.content = { 'application/json': { schema, example } }
}

/** A body that neither a key nor a filter bounds would change who sends it. */
function prepareBody(path, method, { parameters, requestBody }) {
  const content = requestBody?.content?.['application/json']
  const isBounded = path.includes('{') || parameters.some(({ name }) => name === 'filter')
  if (method === 'patch' && content && !isBounded) content.example = {}
}

/** The viewer looks for the parameters of a path at its operations. */
function prepareParameters(spec) {
  for (const parameter of Object.values(spec.components.parameters ?? {})) prepareParameter(parameter)
  for (const [path, { parameters: shared = [], ...operations }] of Object.entries(spec.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      operation.parameters = [...shared, ...(operation.parameters ?? [])]
      for (const parameter of operation.parameters) prepareParameter(parameter)
      prepareBody(path, method, operation)
    }
  }
}

/**
 * What an operation leads to, which the viewer shows once it is all there. Its own way to it reads the whole document for
 * each, and follows collections that refer to each other for minutes: here a schema within a schema is only named, and
 * stands in the list of schemas.
 */
function partOf(spec, path) {
  const resolve = (part, isNamed) => {
    if (Array.isArray(part)) return part.map((one) => resolve(one, isNamed))
    if (typeof part !== 'object' || part === null) return part
    if (typeof part.$ref !== 'string') {
      return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, resolve(one, isNamed)]))
    }
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(part.$ref) ?? []
    const found = spec.components[kind]?.[name]
    if (found === undefined) return part
    if (kind !== 'schemas') return resolve(found, isNamed)
    const isLeaf = !JSON.stringify(found).includes('"$ref"')
    return isNamed && !isLeaf ? { title: name, type: 'object' } : { title: name, ...resolve(found, true) }
  }
  return resolve(path.reduce((part, name) => part?.[name], spec) ?? null, path[0] === 'components')
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
  prepareParameters(spec)
  globalThis.SwaggerUIBundle({
    spec,
    domNode: document.getElementById('reference'),
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    plugins: [{ fn: { resolveSubtree: async (_, path) => ({ spec: partOf(spec, path), errors: [] }) } }],
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
