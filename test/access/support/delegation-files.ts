/**
 * Model files of somebody who manages members: what is there, with one to three things changed at the edge of what they
 * hold. Most roles that are changed are somebody's, so that what a file gives has its effect at once.
 */
import fc from 'fast-check'
import type { Act, Draw, Inventory } from './delegation-acts.ts'
import { drawNear } from './delegation-edges.ts'
import { ownRole } from './delegation-world.ts'
import { membersOf, type Name } from './library.ts'
import type { Policy, PolicyAction } from './policies.ts'

/** Where a model file is applied; the body of the act says what is other in it. */
export const applying = '/api/shop/schema/apply'

/** What a model file is to have by these names; null is for what it shall not have any more. */
export type FileEdit = {
  readonly roles: Readonly<Record<string, readonly string[] | null>>
  readonly policies: Readonly<Record<string, Policy | null>>
}

type Known = {
  /** What whoever makes the file held in the beginning. */
  readonly held: readonly Policy[]
  readonly inventory: Inventory
}

export function drawFile(draw: Draw, known: Known): Act & { readonly body: FileEdit } {
  const edit = { roles: {}, policies: {} } as {
    roles: Record<string, readonly string[]>
    policies: Record<string, Policy | null>
  }
  for (let left = draw(fc.constantFrom(1, 1, 1, 2, 2, 3)); left > 0; left -= 1) drawEdit(draw, known, edit)
  // A role names no policy that the same file takes out.
  const roles = Object.entries(edit.roles).map(([name, policies]): [string, readonly string[]] => [
    name,
    policies.filter((policy) => edit.policies[policy] !== null),
  ])
  return { method: 'POST', path: applying, body: { ...edit, roles: Object.fromEntries(roles) } }
}

type Draft = { roles: Record<string, readonly string[]>; policies: Record<string, Policy | null> }

function drawEdit(draw: Draw, { held, inventory }: Known, { roles, policies }: Draft): void {
  const { attached } = inventory
  const own = attached[ownRole] ?? []
  const contents = new Map(inventory.policies.map(({ name, content }) => [name, content]))
  const one = (names: readonly string[]) => (names.length === 0 ? draw(fc.uuid()) : draw(fc.constantFrom(...names)))
  /** Mostly one that they hold. */
  const known = () => one(draw(fc.integer({ min: 0, max: 6 })) === 0 ? [...contents.keys()] : own)
  const add = (role: string, policy: string) => {
    roles[role] = [...new Set([...(roles[role] ?? attached[role] ?? []), policy])]
  }
  switch (draw(fc.constantFrom('write', 'write', 'write', 'attach', 'attach', 'change', 'change', 'detach', 'drop'))) {
    case 'write': {
      const name = draw(fc.uuid())
      policies[name] = drawGivable(draw, held)
      add(drawRole(draw, inventory), name)
      break
    }
    case 'attach': {
      const name = known()
      if (contents.has(name)) add(drawRole(draw, inventory), name)
      break
    }
    case 'change': {
      const name = known()
      const content = contents.get(name)
      if (content !== undefined) policies[name] = drawLess(draw, content, held)
      break
    }
    case 'detach': {
      const role = drawRole(draw, inventory)
      roles[role] = draw(fc.subarray([...(roles[role] ?? attached[role] ?? [])]))
      break
    }
    default: {
      const name = known()
      if (contents.has(name)) policies[name] = null
    }
  }
}

/** The role of whoever acts, that of everybody, one that was made, or a new one. */
function drawRole(draw: Draw, { roleNames }: Inventory): string {
  const from = draw(fc.integer({ min: 0, max: 5 }))
  if (from < 2) return ownRole
  if (from < 4) return 'Public'
  return from === 4 && roleNames.length > 0 ? draw(fc.constantFrom(...roleNames)) : draw(fc.uuid())
}

/** One action that is held, of as many fields or fewer, or something near it. */
function drawGivable(draw: Draw, held: readonly Policy[]): Policy {
  const near = drawNear(draw, held)
  const actions = held.flatMap(({ collections }) =>
    Object.entries(collections).flatMap(([name, mapped]) =>
      Object.entries(mapped ?? {}).map(([kind, action]) => ({ name: name as Name, kind, action })),
    ),
  )
  if (actions.length === 0 || draw(fc.boolean())) return near
  const { name, kind, action } = draw(fc.constantFrom(...actions))
  return { collections: { [name]: { [kind]: fewerFields(draw, name, kind, action) } } }
}

function fewerFields(draw: Draw, name: Name, kind: string, action: PolicyAction): PolicyAction {
  if (kind === 'delete') return action
  const detail = action === 'all' ? {} : action
  const fields = detail.fields === undefined || detail.fields === '*' ? membersOf(name) : detail.fields
  return { ...detail, fields: draw(fc.subarray([...fields], { minLength: Math.min(1, fields.length) })) }
}

/** The content with some actions gone or narrower, and now and then with one that is near something held. */
function drawLess(draw: Draw, { entitlements = [], collections }: Policy, held: readonly Policy[]): Policy {
  const kept = Object.entries(collections).map(([name, mapped]): [string, object] => {
    const actions = Object.entries(mapped ?? {})
      .filter(() => draw(fc.integer({ min: 0, max: 3 })) > 0)
      .map(([kind, action]): [string, PolicyAction] => [
        kind,
        draw(fc.boolean()) ? action : fewerFields(draw, name as Name, kind, action),
      ])
    return [name, Object.fromEntries(actions)]
  })
  const more = draw(fc.integer({ min: 0, max: 2 })) === 0 ? drawNear(draw, held) : { collections: {} }
  return {
    entitlements: [...new Set([...entitlements, ...(more.entitlements ?? [])])],
    collections: { ...Object.fromEntries(kept), ...more.collections },
  }
}
