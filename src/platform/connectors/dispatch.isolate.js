/**
 * Runs in a connector's isolate on both platforms: calls a function of its module and returns a ConnectorReply
 * (src/ports/connectors.ts) as JSON text. `load` imports the module; `config` is passed to preflight and setup.
 * The connector shares this realm and may change every built-in object, so the host does not trust these replies and
 * parses them again (reply.ts). A call must never keep other calls from being answered.
 */
export function createDispatcher(load, config) {
  let loaded
  let handlers
  let settingUp

  return async function call(method, argument) {
    let module
    try {
      loaded ??= load()
      module = await loaded
    } catch (error) {
      loaded = undefined
      const { message, denied } = describe(error)
      return textOf({ kind: 'unloadable', message, denied })
    }
    try {
      if (method === 'preflight') return preflight(module)
      if (method === 'setup') return await setUp(module)
      return await handle(module, method, argument)
    } catch (error) {
      return textOf({ kind: 'error', ...describe(error) })
    }
  }

  function preflight(module) {
    if (typeof module.preflight !== 'function') return MISSING
    const value = module.preflight(config)
    if (typeof value?.then !== 'function') return valueText('preflight', value)
    // No one awaits this promise, so its rejection must be handled here.
    value.then(undefined, () => {})
    return '{"kind":"promise"}'
  }

  async function setUp(module) {
    if (typeof module.setup !== 'function') return MISSING
    const value = await module.setup(config)
    handlers = (typeof value === 'object' || typeof value === 'function') && value !== null ? value : null
    return textOf({ kind: 'handlers', names: handlers && handlerNames(handlers) })
  }

  /** A restarted isolate has no handlers yet; concurrent calls wait for one setup. */
  async function handle(module, method, argument) {
    if (handlers === undefined) {
      settingUp ??= setUp(module).finally(() => {
        settingUp = undefined
      })
      const reply = await settingUp
      if (handlers === undefined) return reply
    }
    const handler = handlers?.[method]
    if (typeof handler !== 'function') return MISSING
    return valueText(method, await handler.call(handlers, argument))
  }
}

/**
 * Passes each line that the connector prints on its console to `emit(level, text)`, truncated, and at most MOST_LINES
 * until the returned function is called. Printing never makes a call fail.
 */
export function capturePrinting(emit) {
  let left = MOST_LINES
  for (const [level, names] of levels) {
    for (const name of names) {
      console[name] = (...values) => {
        if (left === 0) return
        left -= 1
        try {
          emit(level, values.map(printed).join(' ').slice(0, LONGEST_MESSAGE))
        } catch {}
      }
    }
  }
  return () => {
    left = MOST_LINES
  }
}

const MOST_LINES = 100
const levels = [
  ['info', ['log', 'info', 'debug', 'trace', 'table', 'dir']],
  ['warn', ['warn']],
  ['error', ['error']],
]

function printed(value) {
  if (typeof value === 'string') return value
  if (value instanceof Error) return value.stack ?? String(value)
  return stringify(value) ?? String(value)
}

const { stringify } = JSON
const MISSING = '{"kind":"missing"}'

function valueText(method, value) {
  let text
  try {
    text = stringify(value)
  } catch {
    throw new TypeError(`${method} returned a value that JSON cannot hold`)
  }
  return text === undefined ? '{"kind":"value"}' : `{"kind":"value","value":${text}}`
}

function handlerNames(handlers) {
  return ['introspect', 'query', 'testConnection'].filter((name) => typeof handlers[name] === 'function')
}

/** A reply without a value of the connector. Even this may fail, if the connector changed the built-in objects. */
function textOf(reply) {
  try {
    return stringify(reply)
  } catch {
    return '{"kind":"ended","reason":"crash"}'
  }
}

const LONGEST_MESSAGE = 4_096
const LONGEST_CHAIN = 32

/** Handles any thrown value, including one that throws when it is read. */
function describe(error) {
  try {
    const message = typeof error?.message === 'string' ? error.message : String(error)
    return { message: message.slice(0, LONGEST_MESSAGE), code: codeOf(error), denied: isDenied(error) }
  } catch {
    return { message: 'a value that cannot be read was thrown', code: null, denied: false }
  }
}

function codeOf(error) {
  const code = error?.monospace?.code
  return Number.isSafeInteger(code) ? code : null
}

function isDenied(error) {
  let link = error
  for (let depth = 0; depth < LONGEST_CHAIN && link !== undefined && link !== null; depth++) {
    if (link.name === 'NotCapable') return true
    link = link.cause
  }
  return false
}
