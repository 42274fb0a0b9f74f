/**
 * Parses text from a connector's isolate into a ConnectorReply. The connector may have tampered with it, so it is
 * parsed like any external input; an invalid reply counts as a crash.
 */
import { parseJson } from '../../core/exact-json.ts'
import { oversizedJson, type TextBounds } from '../../core/json-limits.ts'
import type { ConnectorReply } from '../../ports/connectors.ts'

export function parseReply(text: string): ConnectorReply {
  const excess = oversizedJson(text, bounds)
  if (excess !== undefined) return { kind: 'oversized', excess }
  try {
    return readReply(parseJson(text))
  } catch {
    return CRASH
  }
}

/**
 * Ten thousand records of 200 fields are within it. A text that is shorter than the depth is within it, too; what its
 * values may be nested is a matter of their types.
 */
const bounds: TextBounds = { depth: 1_000_000, members: 100_000, values: 2_500_000, containers: 1_000_000 }

function readReply(content: unknown): ConnectorReply {
  if (typeof content !== 'object' || content === null || !('kind' in content)) return CRASH
  switch (content.kind) {
    case 'value':
      return { kind: 'value', value: 'value' in content ? content.value : undefined }
    case 'promise':
    case 'missing':
      return { kind: content.kind }
    case 'handlers':
      return { kind: 'handlers', names: 'names' in content ? readNames(content.names) : null }
    case 'error':
      return { kind: 'error', ...readFault(content), code: 'code' in content ? readCode(content.code) : null }
    case 'unloadable':
      return { kind: 'unloadable', ...readFault(content) }
    default:
      return CRASH
  }
}

export const CRASH: ConnectorReply = { kind: 'ended', reason: 'crash' }

/** Maximum bytes of one reply on Node, as many as the runtime of Workers passes on; it bounds what a reply costs the service. */
export const LONGEST_REPLY = 32 * 1024 * 1024

function readNames(names: unknown): readonly string[] | null {
  if (!Array.isArray(names)) return null
  return names.filter((name) => typeof name === 'string')
}

function readFault(content: object): { readonly message: string; readonly denied: boolean } {
  const message = 'message' in content && typeof content.message === 'string' ? content.message : ''
  return { message: message.slice(0, LONGEST_MESSAGE), denied: 'denied' in content && content.denied === true }
}

const LONGEST_MESSAGE = 4_096

function readCode(code: unknown): number | null {
  return typeof code === 'number' && Number.isSafeInteger(code) ? code : null
}
