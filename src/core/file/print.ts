/** The canonical text of a file: equal models are equal bytes, ids apart (docs/contract.md#the-model-as-a-file). */
import { isRawNumber } from '../exact-json.ts'
import { type FileCollection, type FilePolicy, inOrder, type ModelFile } from './file.ts'
import { shortContent, shortField, shortIndex, shortMembers, shortRole } from './short-form.ts'

export function printModelFile({ sources, collections, roles, policies, ids }: ModelFile): string {
  const parts: (Block | undefined)[] = [
    one('version', 1),
    sources && sources.size > 0 ? block('sources', inOrder(sources), one) : undefined,
    collections && block('collections', inOrder(collections), printCollection),
    roles && block('roles', inOrder(roles), (name, role) => one(name, shortRole(role))),
    policies && block('policies', inOrder(policies), printPolicy),
    ids.size === 0 ? undefined : block('ids', inOrder(ids), one),
  ]
  return `${lines(
    brackets(
      '{',
      parts.flatMap((part) => part ?? []),
      '}',
    ),
    0,
  ).join('\n')}\n`
}

/** A text on a line of its own, with what stands in it. */
type Block = { readonly open: string; readonly inner?: readonly Block[]; readonly close?: string }

function printCollection(name: string, file: FileCollection): Block {
  const { key, rest } = shortMembers(file, name)
  const indexes = file.indexes.map((index): Block => ({ open: inline(shortIndex(index)) }))
  return member(
    name,
    brackets(
      '{',
      [
        // In the order of the file: that of its key, then by name.
        block('fields', [...file.fields], (field, of) => one(field, shortField(of, [name, field]))),
        ...(key === undefined ? [] : [one('key', key)]),
        ...(indexes.length === 0 ? [] : [member('indexes', brackets('[', indexes, ']'))]),
        ...Object.entries(rest).map(([part, value]) => one(part, value)),
      ],
      '}',
    ),
  )
}

function printPolicy(name: string, { description, content }: FilePolicy): Block {
  const { entitlements, collections } = shortContent(content)
  return member(
    name,
    brackets(
      '{',
      [
        ...(description === null ? [] : [one('description', description)]),
        ...(entitlements.length === 0 ? [] : [one('entitlements', entitlements)]),
        ...(collections.length === 0 ? [] : [block('collections', collections, one)]),
      ],
      '}',
    ),
  )
}

function block<T>(
  name: string,
  entries: readonly (readonly [string, T])[],
  print: (name: string, of: T) => Block,
): Block {
  return member(
    name,
    brackets(
      '{',
      entries.map(([inner, of]) => print(inner, of)),
      '}',
    ),
  )
}

function brackets(open: string, inner: readonly Block[], close: string): Block {
  return inner.length === 0 ? { open: `${open}${close}` } : { open, inner, close }
}

function member(name: string, { open, ...rest }: Block): Block {
  return { open: `${JSON.stringify(name)}: ${open}`, ...rest }
}

function one(name: string, value: unknown): Block {
  return { open: `${JSON.stringify(name)}: ${inline(value)}` }
}

function lines({ open, inner = [], close }: Block, depth: number): readonly string[] {
  const indent = '  '.repeat(depth)
  if (close === undefined) return [`${indent}${open}`]
  const within = inner.flatMap((part, at) => {
    const own = [...lines(part, depth + 1)]
    if (at < inner.length - 1) own.push(`${own.pop()},`)
    return own
  })
  return [`${indent}${open}`, ...within, `${indent}${close}`]
}

/** JSON on one line, with a blank where one helps to read it. */
function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  const members = Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${inline(of)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
