/** What differs between two files, in the form of the file: who is who goes by their ids. */
import type { Parts } from '../parts.ts'
import { inOrder, type ModelFile } from './file.ts'
import { shortShown } from './presentation/shown.ts'
import { shortField, shortIndex, shortMembers, shortPolicy, shortRole } from './short-form.ts'
import { sortedJson } from './sorted-json.ts'

export type FileChange = {
  readonly action: 'create' | 'change' | 'rename' | 'delete'
  readonly path: string
  readonly from?: unknown
  readonly to?: unknown
}

/** A part of a file that is created, changed and deleted by itself. */
type Part = {
  readonly path: string
  readonly name: string
  readonly form: unknown
  /** The collection that it belongs to, with which it comes and goes. */
  readonly of?: string
  /** What a creation or deletion tells, where that is more than the form. */
  readonly whole?: unknown
}

export function* changesBetween(before: ModelFile, after: ModelFile): Parts<readonly FileChange[]> {
  const [was, is] = [yield* partsOf(before), yield* partsOf(after)]
  const pathBefore = new Map([...was].map(([key, part]) => [part.path, key]))
  const changes: FileChange[] = []
  const matched = new Set<string>()
  for (const [key, part] of is) {
    yield
    const old = was.has(key) ? key : pathBefore.get(part.path)
    const isOther = old === undefined || (old !== key && is.has(old))
    const known = isOther ? undefined : was.get(old)
    if (known === undefined || old === undefined) {
      if (part.of === undefined || was.has(part.of)) {
        changes.push({ action: 'create', path: part.path, to: part.whole ?? part.form })
      }
      continue
    }
    matched.add(old)
    if (known.name !== part.name) changes.push({ action: 'rename', path: part.path, from: known.name, to: part.name })
    if (sortedJson(known.form) !== sortedJson(part.form)) {
      changes.push({ action: 'change', path: part.path, from: known.form, to: part.form })
    }
  }
  for (const [key, part] of was) {
    yield
    if (matched.has(key) || (part.of !== undefined && !is.has(part.of))) continue
    changes.push({ action: 'delete', path: part.path, from: part.whole ?? part.form })
  }
  return changes
}

/** By id where there is one, else by path. */
function* partsOf({ sources, collections, names, roles, policies, ids }: ModelFile): Parts<ReadonlyMap<string, Part>> {
  const parts = new Map<string, Part>()
  const add = (path: string, part: Omit<Part, 'path'>, id = ids.get(path) ?? path) => {
    parts.set(parts.has(id) ? path : id, { path, ...part })
    return id
  }
  for (const [name, provider] of sources ?? []) add(`source ${name}`, { name, form: provider })
  for (const [name, file] of inOrder(collections ?? [])) {
    yield
    const { key = ['id'], rest } = shortMembers(file, name)
    const fields = [...file.fields].map(([field, of]) => [field, shortField(of, [name, field])] as const)
    const indexes = file.indexes.map(shortIndex)
    const whole = {
      fields: Object.fromEntries(fields),
      ...(key.join() !== 'id' && { key }),
      ...(indexes.length > 0 && { indexes }),
      ...rest,
    }
    const of = add(name, { name, form: rest, whole })
    add(`${name}: key`, { name: '', form: key, of })
    for (const [field, form] of fields) add(`${name}.${field}`, { name: field, form, of })
    for (const [at, { isUnique, on }] of file.indexes.entries()) {
      add(`${name}: ${isUnique ? 'unique ' : ''}${on.join(', ')}`, { name: '', form: indexes[at], of })
    }
  }
  for (const [path, shown] of inOrder(names ?? [])) {
    yield
    add(`name ${path}`, { name: '', form: shortShown(shown) }, `name ${ids.get(path) ?? path}`)
  }
  for (const [name, role] of inOrder(roles ?? [])) add(`role ${name}`, { name, form: shortRole(role) })
  for (const [name, policy] of inOrder(policies ?? [])) add(`policy ${name}`, { name, form: shortPolicy(policy) })
  return parts
}
