/** Acts of a manager that lead to something: a policy at the edge of what they hold, a role with it, somebody who gets it. */
import fc from 'fast-check'
import type { Act, Draw, Inventory } from './delegation-acts.ts'
import { drawNear } from './delegation-edges.ts'
import { otherRole, ownRole, people } from './delegation-world.ts'
import type { Policy } from './policies.ts'

/** Does it as the manager; answers the id that the answer has, or undefined where it was refused. */
export type Perform = (act: Act) => Promise<string | undefined>

type Chain = {
  readonly held: readonly Policy[]
  readonly inventory: Inventory
  readonly publicRole: string
  /** Roles that the creature was given before. */
  readonly given: string[]
}

/** Gives somebody a policy that was there, or one that the manager writes. */
export async function giveAlong(draw: Draw, perform: Perform, chain: Chain): Promise<void> {
  const { held, inventory, publicRole, given } = chain
  const found = inventory.policies.map(({ id }) => id)
  const isWritten = found.length === 0 || draw(fc.boolean())
  const near = () => ({ name: draw(fc.uuid()), content: drawNear(draw, held) })
  let policy = isWritten ? undefined : draw(fc.constantFrom(...found))
  for (let tries = 0; policy === undefined && tries < 3; tries += 1) {
    policy = await perform({ method: 'POST', path: '/api/shop/policies', body: near() })
  }
  if (policy === undefined) return
  const role = await perform({
    method: 'POST',
    path: '/api/shop/roles',
    body: { name: draw(fc.uuid()), policies: [policy] },
  })
  if (role === undefined) return
  switch (draw(fc.constantFrom('creature', 'creature', 'stranger', 'account', 'manager', 'everybody'))) {
    case 'creature':
      given.push(role)
      await perform({ method: 'PATCH', path: `/api/shop/members/${people.creature}`, body: { roles: given } })
      break
    case 'stranger':
      await perform({
        method: 'POST',
        path: '/api/shop/invitations',
        body: { email: 'stranger@example.com', workspace_roles: [draw(fc.constantFrom(role, role, otherRole))] },
      })
      break
    case 'account': {
      const roles = [{ workspace: 'shop', roleId: role }]
      const userId = await perform({
        method: 'POST',
        path: '/api/system/service-accounts',
        body: { name: draw(fc.uuid()), roles },
      })
      if (userId !== undefined) {
        await perform({ method: 'POST', path: '/api/system/api-keys', body: { name: 'made', userId } })
      }
      break
    }
    case 'manager':
      await perform({ method: 'PATCH', path: `/api/shop/members/${people.manager}`, body: { roles: [ownRole, role] } })
      break
    default:
      await perform({ method: 'PATCH', path: `/api/shop/roles/${publicRole}`, body: { policies: [policy] } })
  }
  if (!isWritten || draw(fc.boolean())) return
  await perform({ method: 'PATCH', path: `/api/shop/policies/${policy}`, body: { content: near().content } })
}

/** Something that would take from a colleague or an Administrator, or bring one back. */
export function drawTaking(draw: Draw, { policies }: Inventory): Act {
  const member = (id: string) => `/api/shop/members/${id}`
  const { colleague, administrator, suspended } = people
  const ways: readonly Act[] = [
    { method: 'PATCH', path: member(colleague), body: { roles: [] } },
    { method: 'PATCH', path: member(colleague), body: { status: 'suspended' } },
    { method: 'DELETE', path: member(colleague) },
    { method: 'PATCH', path: `/api/shop/roles/${otherRole}`, body: { policies: [] } },
    { method: 'DELETE', path: `/api/shop/roles/${otherRole}` },
    { method: 'PATCH', path: member(administrator), body: { roles: [] } },
    { method: 'DELETE', path: member(administrator) },
    { method: 'PATCH', path: member(suspended), body: { status: 'active' } },
    ...policies.flatMap(({ id }): Act[] => {
      const path = `/api/shop/policies/${id}`
      return [
        { method: 'PATCH', path, body: { content: { collections: {} } } },
        { method: 'DELETE', path },
      ]
    }),
  ]
  return draw(fc.constantFrom(...ways))
}
