/** Reads the parameter `deep`: arguments of relations, at any depth. */
import { shortName } from '../message-text.ts'
import type { BracketNode } from './brackets.ts'
import {
  type DeepArguments,
  isList,
  MAX_RELATION_DEPTH,
  parseFilter,
  parseInteger,
  parseMeta,
  parseSort,
  parseStart,
  queryFault,
  type RelationArguments,
  refuseLongPath,
  tooManyRelations,
} from './parse.ts'

const deepParameters: ReadonlySet<string> = new Set([
  '_filter',
  '_sort',
  '_limit',
  '_offset',
  '_after',
  '_meta',
  '_aggregate',
])

type DeepDraft = Map<string, { own: Record<string, BracketNode>; children: DeepDraft; path: string }>

/** `deep[author.posts][_limit]` and `deep[author][posts][_limit]` are equivalent. */
export function parseDeep(node: BracketNode | undefined, path: string): DeepArguments {
  if (node === undefined) return new Map()
  const draft: DeepDraft = new Map()
  collectDeep(node, { path, depth: 0 }, draft)
  return finishDeep(draft)
}

function collectDeep(
  node: BracketNode,
  { path, depth }: { readonly path: string; readonly depth: number },
  into: DeepDraft,
): void {
  if (typeof node !== 'object' || isList(node)) throw queryFault(path, 'must name relations and their arguments')
  for (const [fieldPath, value] of Object.entries(node)) {
    const at = `${path}.${shortName(fieldPath)}`
    if (fieldPath.startsWith('_')) throw queryFault(at, 'must stand below the name of a relation')
    refuseLongPath(fieldPath, at)
    const names = fieldPath.split('.')
    if (depth + names.length > MAX_RELATION_DEPTH) throw tooManyRelations(at)
    let level = into
    let entry: { own: Record<string, BracketNode>; children: DeepDraft; path: string } | undefined
    for (const name of names) {
      entry = level.get(name) ?? { own: Object.create(null), children: new Map(), path: at }
      level.set(name, entry)
      level = entry.children
    }
    if (typeof value === 'string' || isList(value)) throw queryFault(at, 'must name arguments such as _limit')
    const deeper: Record<string, BracketNode> = Object.create(null)
    for (const [name, argument] of Object.entries(value)) {
      if (!name.startsWith('_')) deeper[name] = argument
      else if (!deepParameters.has(name)) {
        const known = [...deepParameters].join(', ')
        throw queryFault(`${at}.${shortName(name)}`, `is not an argument of a relation; allowed: ${known}`)
      } else if (entry !== undefined) {
        if (name in entry.own) throw queryFault(`${at}.${name}`, 'is given twice')
        entry.own[name] = argument
      }
    }
    if (Object.keys(deeper).length > 0) collectDeep(deeper, { path: at, depth: depth + names.length }, level)
  }
}

function finishDeep(draft: DeepDraft): DeepArguments {
  const finished = new Map<string, RelationArguments>()
  for (const [name, { own, children, path }] of draft) {
    finished.set(name, {
      own: {
        filter: parseFilter(own._filter, `${path}._filter`),
        sort: parseSort(own._sort, `${path}._sort`),
        limit: parseInteger(own._limit, `${path}._limit`, -1),
        offset: parseInteger(own._offset, `${path}._offset`, 0) ?? 0,
        start: parseStart(own, `${path}._`, '_'),
        withCursors: parseMeta(own._meta, `${path}._meta`, ['cursor']).withCursors,
      },
      deeper: finishDeep(children),
      path,
      aggregate: own._aggregate,
    })
  }
  return finished
}
