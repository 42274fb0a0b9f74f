/** Why a principal of a workspace may do something, or may not (docs/contract.md#explaining-access). */
import type { Action } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { type Principal, requireEntitlement } from '../../core/access/principal.ts'
import type { Explanation, Judgement } from '../../core/manifest/explanation.ts'
import { type Filter, none } from '../../core/query/filter.ts'
import type { Ports } from '../../ports.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type LazyBody, notFound } from '../caller/directory.ts'
import type { Items } from '../data/items.ts'
import { noRecord } from '../data/only-item.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { anonymousPrincipal, principalOfMember, principalOfRoles } from '../rights/principals.ts'
import type { LoadDeclarations } from './declarations.ts'

/** Of whom is asked, and what; `key` is the value of a primary key, or an object of its fields. */
export type AccessQuestion = {
  readonly of:
    | { readonly kind: 'user'; readonly id: string }
    | { readonly kind: 'roles'; readonly ids: readonly string[] }
    | { readonly kind: 'anonymous' }
  readonly collection: string
  readonly action: Action
  readonly key?: unknown
  readonly field?: string | undefined
}

export type ExplainedPolicy = {
  readonly id: string
  readonly name: string
  readonly allows: boolean
  readonly reason?: 'action' | 'filter' | 'field'
  readonly condition?: Readonly<Record<string, unknown>>
}

export type ExplainedAccess = { readonly allowed: boolean; readonly policies: readonly ExplainedPolicy[] }

export type Explanations = {
  /**
   * Throws 403 without workspaceMembers:read, 404 for a user who is no member, for a role that there is not and for an item that the
   * caller does not read, 422 for names that they are not told of, and 403 where a condition is about what they may not read.
   */
  explain(scope: RequestScope, sent: LazyBody<AccessQuestion>): Promise<ExplainedAccess>
}

export type ExplanationsDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly items: Pick<Items, 'meets'>
}

export function createExplanations(deps: ExplanationsDeps): Explanations {
  const { ports, models, declarations, items } = deps

  return {
    async explain(scope, sent) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      const { of, key, ...asked } = await sent()
      const { workspace, snapshot, rights } = scope
      const core = await import('../../core/manifest/explanation.ts')
      const principal = await principalOf(ports, workspace.id, of)
      const model = await models.load(workspace, snapshot.modelVersion)
      const question = { ...asked, model, declared: await declarations(workspace, model), asker: rights, principal }
      const explanation = core.explain(question)
      if (key === undefined) return answered(explanation)
      if (viewerOf(rights, model).accessTo(explanation.collection, 'read').kind === 'denied') return noRecord()
      core.requireAskable(question, explanation)
      const run = await items.meets(scope, asked.collection, { kind: 'value', value: key }, (current, asker) => {
        const { together, policies, findable } = core.explain({ ...question, model: current, asker })
        return [rowsOf(together), findable, ...policies.map(({ judgement }) => rowsOf(judgement))]
      })
      const [isAllowed, isFound, ...met] = await run.answer
      return answered(explanation, { isAllowed: isAllowed === true && isFound === true, met })
    },
  }
}

async function principalOf(
  { database }: Pick<Ports, 'database'>,
  workspaceId: string,
  of: AccessQuestion['of'],
): Promise<Principal> {
  if (of.kind === 'anonymous') return anonymousPrincipal(database, workspaceId)
  if (of.kind === 'user') return (await principalOfMember(database, workspaceId, of.id)) ?? notFound('users')
  return (await principalOfRoles(database, workspaceId, of.ids)) ?? notFound('roles')
}

/** The rows in which it is allowed. */
export function rowsOf(judgement: Judgement): Filter {
  return judgement.kind === 'allowed' ? judgement.rows : none
}

/** Without a row, a policy that allows some rows allows. */
function answered(
  { together, policies }: Explanation,
  row?: { readonly isAllowed: boolean; readonly met: readonly boolean[] },
): ExplainedAccess {
  return {
    allowed: row?.isAllowed ?? together.kind === 'allowed',
    policies: policies.map(({ id, name, judgement, condition }, index) => {
      const isMet = row === undefined || row.met[index] === true
      const reason = judgement.kind === 'refused' ? judgement.reason : isMet ? undefined : 'filter'
      const told = condition !== undefined && judgement.kind === 'allowed'
      const allows = reason === undefined
      return { id, name, allows, ...(!allows && { reason }), ...(told && { condition }) }
    }),
  }
}
