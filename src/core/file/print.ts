/** The canonical text of a file: equal models are equal bytes, ids apart (docs/contract.md#the-model-as-a-file). */
import { isRawNumber } from '../exact-json.ts'
import type { Parts } from '../parts.ts'
import { type FileCollection, type FilePolicy, inOrder, type ModelFile } from './file.ts'
import { shortShown } from './presentation/shown.ts'
import { shortContent, shortField, shortIndex, shortMembers, shortRole } from './short-form.ts'

export function* printModelFile({ sources, collections, names, roles, policies, ids }: ModelFile): Parts<string> {
  const parts: (Block | undefined)[] = [
    one('version', 1),
    sources && sources.size > 0 ? yield* block('sources', inOrder(sources), one) : undefined,
    collections && (yield* block('collections', inOrder(collections), printCollection)),
    names && (yield* block('names', inOrder(names), (name, shown) => one(name, shortShown(shown)))),
    roles && (yield* block('roles', inOrder(roles), (name, role) => one(name, shortRole(role)))),
    policies && (yield* block('policies', inOrder(policies), printPolicy)),
    ids.size === 0 ? undefined : yield* block('ids', inOrder(ids), one),
  ]
  const lines: string[] = []
  yield* write(
    brackets(
      '{',
      parts.flatMap((part) => part ?? []),
      '}',
    ),
    { lines, depth: 0 },
  )
  return `${lines.join('\n')}\n`
}

/** A text on a line of its own, with what stands in it. */
type Block = { readonly open: string; readonly inner?: readonly Block[]; readonly close?: string }

/** The lines so far, and how deep the next one stands. */
type Page = { readonly lines: string[]; readonly depth: number }

function printCollection(name: string, file: FileCollection): Block {
  const { key, rest } = shortMembers(file, name)
  const indexes = file.indexes.map((index): Block => ({ open: inline(shortIndex(index)) }))
  return member(
    name,
    brackets(
      '{',
      [
        // In the order of the file: that of its key, then by name.
        members(
          'fields',
          [...file.fields].map(([field, of]) => one(field, shortField(of, [name, field]))),
        ),
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
        ...(collections.length === 0
          ? []
          : [
              members(
                'collections',
                collections.map(([inner, of]) => one(inner, of)),
              ),
            ]),
      ],
      '}',
    ),
  )
}

function* block<T>(
  name: string,
  entries: readonly (readonly [string, T])[],
  print: (name: string, of: T) => Block,
): Parts<Block> {
  const printed: Block[] = []
  for (const [inner, of] of entries) {
    yield
    printed.push(print(inner, of))
  }
  return members(name, printed)
}

function members(name: string, printed: readonly Block[]): Block {
  return member(name, brackets('{', printed, '}'))
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

function* write({ open, inner = [], close }: Block, { lines, depth }: Page): Parts<void> {
  yield
  const indent = '  '.repeat(depth)
  lines.push(`${indent}${open}`)
  if (close === undefined) return
  for (const [at, part] of inner.entries()) {
    yield* write(part, { lines, depth: depth + 1 })
    if (at < inner.length - 1) lines.push(`${lines.pop()},`)
  }
  lines.push(`${indent}${close}`)
}

/** JSON on one line, with a blank where one helps to read it. */
function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  const members = Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${inline(of)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
