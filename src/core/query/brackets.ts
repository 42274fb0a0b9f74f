/**
 * Parses query strings in bracket notation, `name([key])*=value`, into a tree of strings, arrays and null-prototype objects.
 * Knows the notation only, not the meaning of parameters. Never guesses: refuses malformed text as `badRequest`, an ambiguous
 * or oversized query as `invalid`.
 */
import { codedError, nested, type ServiceError } from '../error.ts'
import type { JsonLimits } from '../json-limits.ts'
import { shortName } from '../message-text.ts'

/** A symbol stands for a value that is bound later (query-template.ts). */
type Leaf = string | symbol
export type BracketNode = Leaf | readonly BracketNode[] | BracketTree
export type BracketTree = { readonly [key: string]: BracketNode }

/** Maximum characters of the raw query string, without `?`. */
export const MAX_QUERY_LENGTH = 65_536
const MAX_PARAMETERS = 5_000
const MAX_DEPTH = 32
const MAX_INDEX = 1_999
const MAX_KEY_LENGTH = 200

/** Limits of JSON in place of a query string, or of one of its parameters. */
export const queryBounds: JsonLimits = {
  depth: MAX_DEPTH,
  values: MAX_PARAMETERS,
  elements: MAX_INDEX + 1,
  length: MAX_QUERY_LENGTH,
  nameLength: MAX_KEY_LENGTH,
}

const WHOLE_QUERY = 'query string'
const PATH = /^[^[\]]+(?:\[[^[\]]*\])*$/
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i
const INDEX = /^(?:0|[1-9]\d*)$/
/** Objects without a prototype accept any other key, such as a field `constructor`. */
const FORBIDDEN = '__proto__'

type Step = { readonly kind: 'key' | 'index' | 'push'; readonly text: string }
type Parameter = { readonly name: string; readonly path: readonly Step[]; readonly value: Leaf }

/** A node of the tree during parsing. Unlike an array, a map accepts any index at no cost; unlike an object, any key. */
type Branch = { readonly kind: Step['kind']; readonly children: Map<string, Branch | Leaf> }

const noun = { key: 'keys', index: 'indexes', push: '[]' } as const satisfies Record<Step['kind'], string>

/**
 * Parses a query string, with or without its leading `?`. For values that must not be read, `leafOf` returns a symbol in their
 * place, by the name as sent. Throws only ServiceError `badRequest` or `invalid`.
 */
export function parseBrackets(search: string, leafOf: LeafOf = asSent): BracketTree {
  const query = search.startsWith('?') ? search.slice(1) : search
  if (query.length > MAX_QUERY_LENGTH) throw refused(WHOLE_QUERY, `is longer than ${MAX_QUERY_LENGTH} characters`)
  const texts = query.split('&').filter((text) => text !== '')
  if (texts.length > MAX_PARAMETERS) throw refused(WHOLE_QUERY, `has more than ${MAX_PARAMETERS} parameters`)

  const root: Branch = { kind: 'key', children: new Map() }
  for (const text of texts) insert(root, parseParameter(text, leafOf))
  return toTree(root, '')
}

// Split at the first `=`, as every URL library does, so that a proxy sees the same name.
function parseParameter(text: string, leafOf: LeafOf): Parameter {
  const end = text.indexOf('=')
  const rawName = end === -1 ? text : text.slice(0, end)
  const name = decode(rawName, rawName)
  const path = parsePath(name)
  if (end === -1) return { name, path, value: '' }
  return { name, path, value: leafOf(rawName) ?? decode(text.slice(end + 1), name) }
}

type LeafOf = (rawName: string) => symbol | undefined

const asSent: LeafOf = () => undefined

/** Decodes the value of the parameter `name`, both as sent. Throws ServiceError `badRequest`. */
export function decodeValue(text: string, name: string): string {
  return decode(text, decode(name, name))
}

function decode(text: string, name: string): string {
  if (BAD_ESCAPE.test(text)) throw malformed(name, 'is not valid percent-encoding')
  const decoded = decodeUtf8(text.replaceAll('+', ' '))
  if (!decoded?.isWellFormed()) throw malformed(name, 'is not valid UTF-8')
  return decoded
}

function decodeUtf8(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

// Decodes the name first: `a%5Bb%5D` is `a[b]`, so that escapes cannot bypass the checks.
function parsePath(name: string): readonly Step[] {
  if (!PATH.test(name)) throw malformed(name, 'is not of the form name[key]…')
  const open = name.indexOf('[')
  if (open === -1) return [keyStep(name, name)]
  const brackets = name.slice(open + 1, -1).split('][')
  // Ambiguous: the second parameter may continue the list of the first or start another.
  if (brackets.some((text, index) => text === '' && isListKey(brackets[index + 1]))) {
    throw refused(name, 'has a list directly inside of []')
  }
  if (brackets.length > MAX_DEPTH) throw refused(name, `is nested deeper than ${MAX_DEPTH} brackets`)
  return [keyStep(name.slice(0, open), name), ...brackets.map((text) => bracketStep(text, name))]
}

function isListKey(text: string | undefined): boolean {
  return text === '' || (text !== undefined && INDEX.test(text))
}

function bracketStep(text: string, name: string): Step {
  if (text === '') return { kind: 'push', text }
  if (!INDEX.test(text)) return keyStep(text, name)
  if (Number(text) > MAX_INDEX) throw refused(name, `has an index over ${MAX_INDEX}`)
  return { kind: 'index', text }
}

function keyStep(text: string, name: string): Step {
  if (text.length > MAX_KEY_LENGTH) throw refused(name, `has a key longer than ${MAX_KEY_LENGTH} characters`)
  if (text === FORBIDDEN) throw refused(name, `must not use the key ${text}`)
  return { kind: 'key', text }
}

function insert(root: Branch, { name, path, value }: Parameter): void {
  let branch = root
  for (const [depth, step] of path.entries()) {
    const key = childKey(branch, step, name)
    const child = branch.children.get(key)
    const next = path[depth + 1]
    if (next === undefined) {
      if (isLeaf(child)) throw refused(name, 'is given more than once')
      if (child !== undefined) throw refused(name, `mixes a value with ${noun[child.kind]}`)
      branch.children.set(key, value)
      return
    }
    if (isLeaf(child)) throw refused(name, `mixes ${noun[next.kind]} with a value`)
    const inner: Branch = child ?? { kind: next.kind, children: new Map() }
    branch.children.set(key, inner)
    branch = inner
  }
}

function childKey(branch: Branch, step: Step, name: string): string {
  if (step.kind !== branch.kind) throw refused(name, `mixes ${noun[step.kind]} with ${noun[branch.kind]}`)
  if (step.kind !== 'push') return step.text
  if (branch.children.size > MAX_INDEX) throw refused(name, `has more than ${MAX_INDEX + 1} elements`)
  return String(branch.children.size)
}

function isLeaf(child: Branch | Leaf | undefined): child is Leaf {
  return typeof child === 'string' || typeof child === 'symbol'
}

function toNode(draft: Branch | Leaf, path: string): BracketNode {
  if (isLeaf(draft)) return draft
  return draft.kind === 'key' ? toTree(draft, path) : toArray(draft, path)
}

function toTree({ children }: Branch, path: string): BracketTree {
  const tree: Record<string, BracketNode> = Object.create(null)
  for (const [key, child] of children) tree[key] = toNode(child, path === '' ? key : `${path}[${key}]`)
  return tree
}

function toArray({ children }: Branch, path: string): readonly BracketNode[] {
  return Array.from({ length: children.size }, (_, index) => {
    const child = children.get(String(index))
    if (child === undefined) throw refused(path, `has no element ${index} before its last`)
    return toNode(child, `${path}[${index}]`)
  })
}

function malformed(name: string, reason: string): ServiceError {
  return nested('badRequest', ['Invalid request', parameterName(name), reason])
}

function refused(name: string, reason: string): ServiceError {
  const cause = nested('invalid', [parameterName(name), reason], { code: '4009' })
  return codedError('4000', { cause })
}

function parameterName(name: string): string {
  return name === '' ? WHOLE_QUERY : shortName(name)
}
