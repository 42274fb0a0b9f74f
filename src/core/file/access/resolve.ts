/** What roles and policies are to be: the file, the stored ones and the model of then → the records of then. */
import { type PolicyContent, parsePolicy, policyReferences, presentPolicy } from '../../access/policy.ts'
import { ServiceError } from '../../error.ts'
import type { Model } from '../../model/model.ts'
import { didYouMean } from '../../nearest.ts'
import type { ModelFile } from '../file.ts'
import { createIds, type Ids, identify } from '../identity.ts'
import { fileFault, requireLine, requireStorable, within } from '../reading.ts'
import { shortContent } from '../short-form.ts'
import { sortedJson } from '../sorted-json.ts'
import type { AccessRecords, PolicyRecord, RoleRecord } from './records.ts'

export type AccessContext = {
  /** The model as it is to be. */
  readonly model: Model
  readonly newId: () => string
  /** Ids that something else has, in whatever workspace. */
  readonly taken: ReadonlySet<string>
}

/** Throws 422 with the place. Records that stay as they are are the same objects. */
export function resolveAccess(file: ModelFile, access: AccessRecords, context: AccessContext): AccessRecords {
  const known = new Set([...access.roles, ...access.policies].map(({ id }) => id))
  const ids = createIds(file.ids, known, context.newId, context.taken)
  const policies =
    file.policies === undefined ? access.policies : resolvePolicies(file.policies, access, { ...context, ids })
  const roles = file.roles === undefined ? access.roles : resolveRoles(file.roles, access, { policies, ids })
  const kept = new Set(policies.map(({ id }) => id))
  return { policies, roles: roles.map((role) => withoutPolicies(role, kept)) }
}

/** A policy that goes is taken off its roles. */
function withoutPolicies(role: RoleRecord, kept: ReadonlySet<string>): RoleRecord {
  const policyIds = role.policyIds.filter((id) => kept.has(id))
  return policyIds.length === role.policyIds.length ? role : { ...role, policyIds }
}

type Policies = NonNullable<ModelFile['policies']>
type Roles = NonNullable<ModelFile['roles']>

function resolvePolicies(
  wanted: Policies,
  { policies }: AccessRecords,
  { ids, model }: AccessContext & { readonly ids: Ids },
): readonly PolicyRecord[] {
  const entries = entriesOf(wanted, 'policy')
  const found = identify(entries, policies, { ids, what: 'a policy' })
  return entries.map((entry): PolicyRecord => {
    const { name, line, place, file } = entry
    const before = found.get(entry)
    checkText(name, place, 200)
    checkText(file.description, `${place}.description`, 2_000)
    const parsed = parsedAt(place, () => parsePolicy(file.content, model))
    const content = before !== undefined && isSameContent(before.content, parsed, model) ? before.content : parsed
    const { description } = file
    const isSame = before?.name === name && before.description === description && before.content === content
    return isSame ? before : { id: before?.id ?? ids.forNew(line), name, description, content }
  })
}

const members = { policy: 'model.policies', role: 'model.roles' } as const

/** The parts of the file to identify, each with its line of `ids` and its place. */
function entriesOf<F extends { readonly renamedFrom: string | undefined }>(
  wanted: ReadonlyMap<string, F>,
  what: keyof typeof members,
) {
  return [...wanted].map(([name, file]) => ({
    name,
    line: `${what} ${name}`,
    place: within(members[what], name),
    renamedFrom: file.renamedFrom,
    file,
  }))
}

/** As it is read: what names nothing any more is no difference, unless it goes now. */
function isSameContent(before: PolicyContent, after: PolicyContent, model: Model): boolean {
  const shown = (content: PolicyContent) => sortedJson(shortContent(presentPolicy(content, model)))
  if (shown(before) !== shown(after)) return false
  const named = policyReferences(before)
  const kept = policyReferences(after)
  return named.collectionIds.size === kept.collectionIds.size && named.fieldIds.size === kept.fieldIds.size
}

/** The fault of a policy, at its place in the file. */
function parsedAt<T>(place: string, parse: () => T): T {
  try {
    return parse()
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.kind !== 'invalid') throw fault
    const messages: string[] = []
    for (let cause: unknown = fault; cause instanceof ServiceError; cause = cause.cause) messages.push(cause.message)
    const [, at = 'content', ...reasons] = messages
    throw fileFault(at.replace(/^content/, place), reasons.join(': '))
  }
}

function resolveRoles(
  wanted: Roles,
  { roles }: AccessRecords,
  { policies, ids }: { readonly policies: readonly PolicyRecord[]; readonly ids: Ids },
): readonly RoleRecord[] {
  const byName = new Map(policies.map((policy) => [policy.name, policy]))
  const entries = entriesOf(wanted, 'role')
  const builtIn = roles.filter(({ kind }) => kind === 'public')
  const found = identify(entries, roles, { ids, what: 'a role' })
  const resolved = entries.map((entry): RoleRecord => {
    const { name, line, place, file } = entry
    if (name === 'Administrator') throw fileFault(place, 'is built in and does everything: it is in no file')
    const before = found.get(entry)
    checkText(name, place, 200)
    checkText(file.description, `${place}.description`, 2_000)
    const isBuiltIn = before?.kind === 'public'
    if (isBuiltIn !== builtIn.some((role) => role.name === name))
      throw fileFault(place, 'a built-in role keeps its name')
    const policyIds = file.policies.map((policy, at) => {
      const one = byName.get(policy)
      if (one !== undefined) return one.id
      throw fileFault(`${place}[${at}]`, `${policy.slice(0, 100)} is not a policy${didYouMean(policy, byName.keys())}`)
    })
    if (policyIds.length > 200) throw fileFault(place, 'must have at most 200 policies')
    const description = isBuiltIn ? before.description : file.description
    if (isBuiltIn && file.description !== null && file.description !== before.description) {
      throw fileFault(`${place}.description`, 'is that of a built-in role')
    }
    const isSame = before?.name === name && before.description === description && isSameSet(before.policyIds, policyIds)
    if (isSame) return before
    return { id: before?.id ?? ids.forNew(line), name, description, kind: before?.kind ?? 'custom', policyIds }
  })
  const there = new Set(resolved.map(({ id }) => id))
  return [...builtIn.filter(({ id }) => !there.has(id)), ...resolved]
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id) => other.includes(id))
}

function checkText(text: string | null, place: string, most: number): void {
  if (text === null) return
  if (most === 200 && text === '') throw fileFault(place, 'must not be empty')
  if (text.length > most) throw fileFault(place, `must have at most ${most} characters`)
  requireStorable(text, place)
  if (most === 200) requireLine(text, place)
  if (most === 200 && text.trim() !== text) throw fileFault(place, 'must not begin or end with a blank')
}
