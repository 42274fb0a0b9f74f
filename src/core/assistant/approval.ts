/** Which calls of the assistant wait for its user (docs/contract.md#assistant): decided by tool and arguments, never by what a model says. */
import { isObject, jsonIn } from '../json-object.ts'
import type { DataLevel } from './choices.ts'

/** `always` is for what destroys or opens something, `writes` for what the user may allow for a conversation. */
export type Asks = 'never' | 'writes' | 'always'

const reading: ReadonlySet<string> = new Set([
  'list_items',
  'aggregate_items',
  'read_schema',
  'read_data_sources',
  'read_model',
  'plan_model',
])
const writing: ReadonlySet<string> = new Set(['create_items', 'update_item', 'batch_items'])

/** Tools that bring no value of an item. */
const ofModel: ReadonlySet<string> = new Set([
  'read_schema',
  'read_data_sources',
  'read_model',
  'plan_model',
  'mutate_schema',
  'apply_model',
])

export function isOffered(tool: string, level: DataLevel): boolean {
  return level === 'rows' || ofModel.has(tool)
}

/** A tool that is not known here asks always. */
export function asksFor(tool: string, sent: unknown): Asks {
  if (reading.has(tool) || (tool === 'mutate_schema' && isObject(sent) && sent.dryRun === true)) return 'never'
  if (!writing.has(tool)) return 'always'
  return isGrave(sent) ? 'always' : 'writes'
}

const DEEPEST = 100

/**
 * Whether an operation of a batch, or of a relation within what is written, takes something away, changes an item that is there, changes all
 * that meets a filter, or is of a collection of the system. What is connected may be taken from another item. Which collection a relation leads to and how many items a change in it meets is not seen here, so that
 * each waits; so does what is nested deeper than anything that is written. Tools take lists and objects as JSON texts, too.
 */
function isGrave(sent: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return true
  if (typeof sent === 'string') return isGrave(packed(sent), depth + 1)
  if (Array.isArray(sent)) return sent.some((one) => isGrave(one, depth + 1))
  if (!isObject(sent)) return false
  const { kind, collection } = sent
  return (
    '_delete' in sent ||
    '_disconnect' in sent ||
    '_update' in sent ||
    '_connect' in sent ||
    kind === 'delete' ||
    (kind === 'update' && 'filter' in sent) ||
    (typeof collection === 'string' && collection.startsWith('Service')) ||
    Object.values(sent).some((one) => isGrave(one, depth + 1))
  )
}

/** The list or object that a text is of. */
function packed(text: string): unknown {
  return /^\s*[[{]/.test(text) ? jsonIn(text) : undefined
}
